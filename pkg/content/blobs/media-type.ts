/** Type that clients send for unknown content (RFC 2046 §4.5.1). */
export const UNKNOWN_TYPE = 'application/octet-stream';

/** The number of bytes at the beginning of a file that are examined. */
const HEAD_BYTES = 1024;

/**
 * Container formats. The first bytes show only the container, so a claimed type that is based on it is more exact. The keys are
 * detected types; the values are the claims that may be true.
 */
const CONTAINERS: Readonly<Record<string, RegExp>> = {
  'application/zip': /^application\/(?!pdf$|json$|xml$|javascript$|(x-)?gzip$|x-tar$|rtf$|msword$|postscript$)|\+zip$/,
  'application/xml': /[/+]xml$|^text\/html$|^application\/xhtml\+xml$/,
  'application/gzip': /^application\/(x-)?(gzip|tgz|gtar|tar|compressed-tar|compressed)$|\+gzip$/,
  'application/x-cfb': /^application\/(msword|vnd\.|x-msi|x-ole-storage|onenote|x-msdownload)/,
  'application/x-tar': /^application\/(x-)?(gtar|tar|ustar)$/,
  'application/ogg': /^(audio|video)\//,
  'video/mp4': /^(audio|video)\//,
  'video/matroska': /^(audio|video)\//,
  'video/webm': /^audio\/webm$/,
  'video/vnd.avi': /^video\//,
  'video/x-ms-asf': /^(audio|video)\/x-ms-/,
};

/** Different names that clients use for the same format. The name that the client sent is stored. */
const SAME: readonly (readonly string[])[] = [
  ['image/jpeg', 'image/jpg', 'image/pjpeg'],
  ['audio/mpeg', 'audio/mp3'],
  ['audio/wav', 'audio/x-wav', 'audio/vnd.wave'],
  ['audio/flac', 'audio/x-flac'],
  ['audio/aac', 'audio/x-aac', 'audio/aacp'],
  ['image/x-icon', 'image/vnd.microsoft.icon'],
  ['image/bmp', 'image/x-ms-bmp'],
  ['application/rtf', 'text/rtf'],
  ['application/x-7z-compressed', 'application/7z'],
  ['application/x-rar-compressed', 'application/vnd.rar', 'application/x-rar'],
];

/**
 * Returns the media type of a file that was sent as `claimed`: if its first bytes are those of a known format that cannot be
 * the claimed one, that format's type; else the claimed one. Text has no such bytes, so a claim about it stands.
 */
export async function mediaTypeOf(claimed: string, content: Buffer): Promise<string> {
  // 9 MB of memory, for servers that receive files.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = (await fileTypeFromBuffer(content.subarray(0, HEAD_BYTES)).catch(() => undefined))?.mime;
  if (found === undefined || found === claimed) return claimed;
  if (CONTAINERS[found]?.test(claimed) || SAME.some((names) => names.includes(found) && names.includes(claimed))) return claimed;
  return found;
}
