import { hash } from 'node:crypto';

/** The longest name of a file on Linux, in bytes of UTF-8; Windows and macOS take 255 characters. */
const NAME_MAX_BYTES = 255;
const EXTENSION_MAX_BYTES = 64;
/** Characters that Windows allows in no name; slashes and control characters are in no name here. */
const FORBIDDEN = /[<>:"|?*\\]/g;
/** Characters that Windows drops at the end of a name. */
const TRAILING = /[. ]+$/;
/** Names of devices on Windows, whatever follows the first dot; Windows takes the superscript digits for digits too. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?= *(?:\.|$))/i;
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;
/** A taken name tries this many numbers of its own, and then continues with numbers shared by the folder, which is faster. */
const OWN_NUMBERS = 10;

/**
 * Returns a name that Linux, macOS and Windows accept as it is: what they forbid, drop or reserve is replaced by `_`, and what
 * is too long is cut.
 */
export function portableName(name: string): string {
  const allowed = name
    .replaceAll(FORBIDDEN, '_')
    .replace(TRAILING, (end) => '_'.repeat(end.length))
    .replace(DEVICE, '$&_');
  return fitted(allowed, '');
}

/**
 * Returns a form that is equal for names that unpack to one path: of letters in any case (NTFS, APFS), composed or not (macOS),
 * without invisible characters (HFS+). It may equate two names that some system keeps apart; then one of them is renamed
 * without need.
 */
export const unpackedAs = (name: string): string =>
  name.normalize('NFD').replaceAll(IGNORED, '').toUpperCase().toLowerCase().normalize('NFC');

/**
 * The names in one folder of an archive. No two of them unpack to the same path on Linux, macOS or Windows, and the same input
 * in the same order gets the same names. Memory holds only 48 bits of a hash of each name. Among 100,000 names, two share them
 * with a probability of 1 in 50,000; then one is renamed unnecessarily.
 */
export class FolderNames {
  readonly #taken = new Set<number>();
  #last = OWN_NUMBERS;

  /** Returns the name in the archive; it differs from `name` where that is not portable or is taken: `plan (1).txt`. */
  give(name: string): string {
    const portable = portableName(name);
    if (this.#take(portable)) return portable;
    for (let own = 1; ; own += 1) {
      const other = fitted(portable, ` (${own <= OWN_NUMBERS ? own : (this.#last += 1)})`);
      if (this.#take(other)) return other;
    }
  }

  #take(name: string): boolean {
    const key = hash('sha256', unpackedAs(name), 'buffer').readUIntBE(0, 6);
    if (this.#taken.has(key)) return false;
    this.#taken.add(key);
    return true;
  }
}

/** Returns the name with `suffix` before its extension, in NAME_MAX_BYTES: the stem loses characters at its end. */
function fitted(name: string, suffix: string): string {
  const dot = name.lastIndexOf('.');
  const at = dot > 0 && Buffer.byteLength(name.slice(dot)) <= EXTENSION_MAX_BYTES ? dot : name.length;
  const end = `${suffix}${name.slice(at)}`;
  const stem = name.slice(0, at);
  if (Buffer.byteLength(stem) + Buffer.byteLength(end) <= NAME_MAX_BYTES) return `${stem}${end}`;
  let left = NAME_MAX_BYTES - Buffer.byteLength(end);
  let cut = '';
  for (const character of stem) {
    left -= Buffer.byteLength(character);
    if (left < 0) break;
    cut += character;
  }
  return `${cut.replace(TRAILING, '')}${end}`;
}
