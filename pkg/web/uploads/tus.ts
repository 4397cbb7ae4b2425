import { type Answer, type Ask, Refused } from './request.ts';

const TUS = { 'Tus-Resumable': '1.0.0' };
/** Of one request: a buffering proxy stores no more than this, and each new request has a valid token. */
const CHUNK_BYTES = 16 * 1024 * 1024;

interface Options {
  readonly ask: Ask;
  readonly file: File;
  /** The address at which uploads are created. */
  readonly uploads: string;
  /** Upload-Metadata, but for the media type. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The address of an upload that was begun before; '': none. */
  readonly url: string;
  /** Called with the address of the upload once the server has one, and before that with '' if it has a former one no more. */
  readonly onUrl: (url: string) => void | Promise<void>;
  /** Called with the bytes that the server has or is receiving. */
  readonly onProgress: (bytes: number) => void;
  /** If the reply to a creation is lost, an attempt with the same key gets the same upload. A link knows no keys. */
  readonly creationKey?: () => string;
}

interface Position {
  readonly url: string;
  readonly offset: number;
  /** Set once the upload is complete, unless it is by a link. */
  readonly fileId: string | null;
}

/**
 * Sends what the server does not have of a file, with tus 1.0 (https://tus.io/protocols/resumable-upload), and returns the id of
 * the resulting file; by a link, undefined. The server keeps received bytes for a day after the last of them, by a link for an
 * hour. Throws Refused.
 */
export async function sendByTus(options: Options, signal: AbortSignal): Promise<string | undefined> {
  const { ask, file, url, onUrl, onProgress } = options;
  const former = url === '' ? undefined : await positionAt(url, ask, signal);
  if (url !== '' && !former) await onUrl('');
  let at = former ?? (await create(options, signal));
  if (!former) await onUrl(at.url);
  // The offset becomes the length when the file is made.
  while (at.offset < file.size) {
    const { url: address, offset } = at;
    onProgress(offset);
    at = positionOf(
      address,
      await ask({
        method: 'PATCH',
        url: address,
        headers: { ...TUS, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' },
        body: file.slice(offset, offset + CHUNK_BYTES),
        signal,
        onSent: (bytes) => onProgress(offset + bytes),
      }),
    );
  }
  return at.fileId ?? undefined;
}

/** Deletes what the server has of an upload. Best effort: a remainder expires. */
export async function discard(url: string, ask: Ask): Promise<void> {
  const signal = AbortSignal.timeout(30_000);
  await ask({ method: 'DELETE', url, headers: TUS, signal }).catch(() => undefined);
}

/** Returns undefined if the server has it no more, or never had it from this person. */
async function positionAt(url: string, ask: Ask, signal: AbortSignal): Promise<Position | undefined> {
  try {
    return positionOf(url, await ask({ method: 'HEAD', url, headers: TUS, signal }));
  } catch (error) {
    if (error instanceof Refused && ['status_404', 'status_410', 'not_found', 'upload_expired'].includes(error.problem.code))
      return undefined;
    throw error;
  }
}

async function create({ ask, file, uploads, metadata, creationKey }: Options, signal: AbortSignal): Promise<Position> {
  const pairs = Object.entries({ ...metadata, ...(file.type === '' ? {} : { filetype: file.type }) }).map(
    ([key, value]) => `${key} ${base64(value)}`,
  );
  const headers = {
    ...TUS,
    'Upload-Length': String(file.size),
    'Upload-Metadata': pairs.join(','),
    ...(creationKey === undefined ? {} : { 'Idempotency-Key': creationKey() }),
  };
  const { text } = await ask({ method: 'POST', url: uploads, headers, signal });
  const { id, offset, file_id: fileId } = JSON.parse(text) as { id: string; offset: number; file_id: string | null };
  return { url: `${uploads}/${id}`, offset, fileId };
}

const positionOf = (url: string, { header }: Answer): Position => ({
  url,
  offset: Number(header('Upload-Offset') ?? 0),
  fileId: header('X-Carrel-File'),
});

/** Returns the text in UTF-8, in Base64. */
const base64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
