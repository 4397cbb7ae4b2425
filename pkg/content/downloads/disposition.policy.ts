/**
 * Characters that are unsafe in a quoted-string of `filename`: other than printable ASCII, quotes, escapes, and `%`, which some
 * clients decode.
 */
const NOT_PLAIN = /[^\x20-\x7e]|["\\%]/gu;
/** Characters that an ext-value percent-encodes beyond encodeURIComponent (RFC 8187 §3.2.1, attr-char). */
const NOT_ATTR = /['()*]/g;

/**
 * Returns the Content-Disposition of a download (RFC 6266 §4): a plain `filename` for old clients, and for any other name
 * `filename*` in UTF-8 (RFC 8187), which wins where both are understood. Only ASCII comes out, whatever the name.
 */
export function attachment(name: string): string {
  const plain = name.replace(NOT_PLAIN, '_');
  const encoded = encodeURIComponent(name).replace(NOT_ATTR, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return plain === name ? `attachment; filename="${name}"` : `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
