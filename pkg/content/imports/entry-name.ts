import { crc32 } from 'node:zlib';

/** The upper half of code page 437, which ZIP names by default (APPNOTE.TXT, appendix D). */
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';
export const CP437_NAME = 'cp437';

/** Names of bytes that nothing says how to read. */
export const FALLBACK_ENCODING = CP437_NAME;

/** Returns whether names can be read in this encoding: cp437, or a label of the WHATWG's Encoding Standard. */
export function isEncoding(label: string): boolean {
  try {
    decoderOf(label);
    return true;
  } catch {
    return false;
  }
}

function decoderOf(label: string): (bytes: Uint8Array) => string {
  if (/^(?:cp|ibm)437$/i.test(label)) return fromCp437;
  const decoder = new TextDecoder(label);
  return (bytes) => decoder.decode(bytes);
}

const fromCp437 = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : CP437[byte - 0x80])).join('');

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LENIENT = new TextDecoder('utf-8', { ignoreBOM: true });

function utf8(bytes: Uint8Array): string | null {
  try {
    return STRICT.decode(bytes);
  } catch {
    return null;
  }
}

const UTF8_FLAG = 0x800;
const UNICODE_PATH = 0x7075;

/** An entry's name as the central directory has it. */
export interface RawName {
  readonly flags: number;
  readonly bytes: Buffer;
  readonly extraFields: readonly { readonly id: number; readonly data: Buffer }[];
}

/**
 * Reads names: as UTF-8 where the entry says that it is; else by the Unicode path field of Info-ZIP where that is of this name;
 * else as UTF-8 where it is valid; else in `encoding`.
 */
export function nameReader(encoding: string): (name: RawName) => string {
  const decode = decoderOf(encoding);
  return ({ flags, bytes, extraFields }) => {
    if ((flags & UTF8_FLAG) !== 0) return LENIENT.decode(bytes);
    const field = extraFields.find(({ id }) => id === UNICODE_PATH)?.data;
    // Its version, the CRC of the name that it is of, and the path.
    const isOfName = field !== undefined && field.length >= 5 && field[0] === 1 && field.readUInt32LE(1) === crc32(bytes);
    return (isOfName ? utf8(field.subarray(5)) : null) ?? utf8(bytes) ?? decode(bytes);
  };
}
