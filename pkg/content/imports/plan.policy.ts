import { hash } from 'node:crypto';
import { alternativeName } from '../model/names/alternative-names.policy.ts';
import { DIRECTORY_MAX_BYTES, ENTRIES_MAX } from './archive-end.ts';
import { type ListedEntry, Refused } from './archive-entry.ts';
import { entryPath } from './entry-path.policy.ts';
import { isFolderByMode, refusalOf, requireRatio } from './entry-refusals.policy.ts';

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

/** Plans the entries of an archive, one after the other: their paths, and whether the archive is refused (throws Refused). */
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
    const refusal = refusalOf(listed, { maxBytes: this.#maxBytes });
    if (refusal !== undefined) return refuse(refusal);
    this.#bytes += listed.size;
    requireRatio(this.#bytes, this.#archiveBytes);
    if ('isSystemFile' in path) return { name: name.toWellFormed(), entry: null };
    const isFolder = path.isFolder || isFolderByMode(listed);
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
