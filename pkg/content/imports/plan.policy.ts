import { hash } from 'node:crypto';
import { alternativeName } from '../model/names/names.policy.ts';
import { DIRECTORY_MAX_BYTES, ENTRIES_MAX } from './archive-end.ts';
import { type ListedEntry, Refused } from './archive-rules.ts';
import { entryPath } from './entry-path.policy.ts';

/** Bytes of contents for each byte of the archive. */
const RATIO_MAX = 1_000;

export const LIST_LIMITS = { most: ENTRIES_MAX, mostDirectoryBytes: DIRECTORY_MAX_BYTES };

/** An entry as it is planned: what it is called in the archive, and what it is to become. */
export interface PlannedEntry {
  /** Its path in the archive. */
  readonly name: string;
  /** Null: it is skipped, since a system made it. */
  readonly entry: PlannedPath | null;
}

export interface PlannedPath extends Omit<ListedEntry, 'name'> {
  /** From the target down, the last its own; none: the target itself. */
  readonly names: readonly string[];
  readonly isFolder: boolean;
  readonly isAdapted: boolean;
}

const TYPE = 0o170000;
const FOLDER = 0o040000;
const LINK = 0o120000;
const FILE = 0o100000;
/** Bits 0, 6 and 13 of the flags (APPNOTE.TXT, 4.4.4). */
const ENCRYPTED = 0x2041;
const METHODS = [0, 8];

/** The limits of an archive and the paths of its entries, one after the other. Refuses it by throwing Refused. */
export class Plan {
  readonly #archiveBytes: number;
  readonly #maxBytes: number;
  /** 48 bits of a hash of each path, and the last number that an alternative to it had. */
  readonly #taken = new Map<number, number>();
  #bytes = 0;

  constructor(of: { readonly archiveBytes: number; /** The largest size of one file. */ readonly maxBytes: number }) {
    this.#archiveBytes = of.archiveBytes;
    this.#maxBytes = of.maxBytes;
  }

  /** The bytes of all contents so far. */
  get bytes(): number {
    return this.#bytes;
  }

  add({ name, ...listed }: ListedEntry, hasSlash: boolean): PlannedEntry {
    const refuse = (reason: string): never => {
      throw new Refused(`is refused, since ${quoted(name)} ${reason}`);
    };
    const path = entryPath(name.toWellFormed(), hasSlash ? '/' : '\\');
    if ('refused' in path) return refuse(path.refused);
    if ((listed.flags & ENCRYPTED) !== 0) return refuse('is encrypted');
    const type = listed.mode & TYPE;
    if (type === LINK) return refuse('is a link');
    if (type !== 0 && type !== FOLDER && type !== FILE) return refuse('is a device');
    if (!METHODS.includes(listed.method)) return refuse(`is compressed by method ${listed.method}; store and deflate are taken`);
    if (listed.method === 0 && listed.packed !== listed.size) return refuse('is stored with two sizes');
    if (listed.size > this.#maxBytes) return refuse(`has more than ${this.#maxBytes} bytes`);
    this.#bytes += listed.size;
    if (this.#bytes > this.#archiveBytes * RATIO_MAX) throw new Refused(`has contents of more than ${RATIO_MAX} times its size`);
    if ('isSystemFile' in path) return { name: name.toWellFormed(), entry: null };
    const isFolder = path.isFolder || type === FOLDER;
    if (isFolder && listed.size > 0) return refuse('is a folder with content');
    const names = isFolder ? path.names : this.#free(path.names);
    const isAdapted = path.isAdapted || names !== path.names;
    return { name: name.toWellFormed(), entry: { ...listed, names, isFolder, isAdapted } };
  }

  /** Returns a path that no file of the archive has yet: `plan (1).txt`. */
  #free(names: readonly string[]): readonly string[] {
    const key = keyOf(names);
    const before = this.#taken.get(key);
    if (before === undefined) {
      this.#taken.set(key, 0);
      return names;
    }
    for (let attempt = before + 1; ; attempt += 1) {
      const other = [...names.slice(0, -1), alternativeName(names.at(-1) ?? '', attempt)];
      this.#taken.set(key, attempt);
      if (this.#taken.has(keyOf(other))) continue;
      this.#taken.set(keyOf(other), 0);
      return other;
    }
  }
}

const keyOf = (names: readonly string[]): number => hash('sha256', names.join('/'), 'buffer').readUIntBE(0, 6);

const QUOTED_CHARACTERS = 100;
const quoted = (name: string): string =>
  JSON.stringify(name.length > QUOTED_CHARACTERS ? `${name.slice(0, QUOTED_CHARACTERS)}…` : name);
