import { type ListedEntry, Refused } from './archive-entry.ts';

/** Bytes of contents for each byte of the archive. */
const RATIO_MAX = 1_000;

const TYPE = 0o170000;
const FOLDER = 0o040000;
const LINK = 0o120000;
const FILE = 0o100000;
/** Bits 0, 6 and 13 of the flags (APPNOTE.TXT, 4.4.4). */
const ENCRYPTED = 0x2041;
const METHODS = [0, 8];

type Described = Omit<ListedEntry, 'name'>;

/** Its mode says that it is a folder. */
export const isFolderByMode = ({ mode }: Described): boolean => (mode & TYPE) === FOLDER;

/** Returns why an archive with this entry is refused, after the entry's name; undefined if it is not. */
export function refusalOf(entry: Described, { maxBytes }: { readonly maxBytes: number }): string | undefined {
  const type = entry.mode & TYPE;
  if ((entry.flags & ENCRYPTED) !== 0) return 'is encrypted';
  if (type === LINK) return 'is a link';
  if (type !== 0 && type !== FOLDER && type !== FILE) return 'is a device';
  if (!METHODS.includes(entry.method)) return `is compressed by method ${entry.method}; store and deflate are taken`;
  if (entry.method === 0 && entry.packed !== entry.size) return 'is stored with two sizes';
  if (entry.size > maxBytes) return `has more than ${maxBytes} bytes`;
  return undefined;
}

/** Throws Refused if the contents so far are too many bytes for an archive of this size. */
export function requireRatio(bytes: number, archiveBytes: number): void {
  if (bytes > archiveBytes * RATIO_MAX) throw new Refused(`has contents of more than ${RATIO_MAX} times its size`);
}
