import { LRUCache } from 'lru-cache';
import { LEVELS } from '../../../api/actor.ts';
import { etagOfText } from '../../../api/etag.ts';
import type { Caller } from '../access/caller.ts';
import { accessOf, hiddenAncestors } from '../access/inherited-access.policy.ts';
import { listedFileOf, type ListedRow, type Surroundings, type Stamp } from './files.sql.ts';
import { fileSeenBy, presentFile } from './files.view.ts';

/** The limit of all texts together, in characters: some 3,000 files. */
const CHARACTERS_MAX = 2 * 1024 * 1024;
/** The lists that are known to be asked for again. */
const LISTS_MAX = 1_000;

/** A text, and what it was made of. */
interface Known extends Pick<Stamp, 'revision' | 'updatedAt' | 'deletedAt' | 'path'> {
  readonly fields: string;
  readonly ownerName: string;
  readonly folderName: string | null;
  readonly hidden: number;
}

/**
 * The JSON of files that lists have shown. A page that is open asks for its list again and again, and to read the whole rows of
 * its files and to make their JSON is a third of the work of a list.
 *
 * Invariants:
 * - A text is never out of date: what a list shows of a file is in its row, which has another revision after each change, or is
 *   compared.
 * - A text holds nothing of the person who saw it but their level, and how many of the folders above were hidden.
 */
export class FileTexts {
  readonly #known = new LRUCache<number, Known>({ maxSize: CHARACTERS_MAX, sizeCalculation: ({ fields }) => fields.length });
  readonly #lists = new LRUCache<string, true>({ max: LISTS_MAX });

  /**
   * Returns whether this page of a list was asked for before, so that its texts may be known. `list` names it: person, folder,
   * what is looked for, cursor.
   */
  wasAskedFor(...list: readonly unknown[]): boolean {
    const key = etagOfText(JSON.stringify(list));
    const isKnown = this.#lists.has(key);
    this.#lists.set(key, true);
    return isKnown;
  }

  /** Returns the fields of `presentFile` as JSON, without the braces around them; undefined if they are not known. */
  known(caller: Caller, stamp: Stamp, around: Around): string | undefined {
    const known = this.#known.get(keyOf(caller, stamp, around));
    return known?.revision === stamp.revision &&
      known.updatedAt === stamp.updatedAt &&
      known.deletedAt === stamp.deletedAt &&
      known.path === stamp.path &&
      known.ownerName === around.ownerName &&
      known.folderName === (around.folder?.name ?? null) &&
      known.hidden === hiddenAncestors(caller, around.ancestors)
      ? known.fields
      : undefined;
  }

  /** Returns the same, and keeps it. */
  of(caller: Caller, row: ListedRow, around: Surroundings): string {
    const text = this.known(caller, row, around);
    if (text !== undefined) return text;
    const file = fileSeenBy(caller, listedFileOf(row, around));
    const fields = JSON.stringify(presentFile(file)).slice(1, -1);
    const { revision, updatedAt, deletedAt, path } = row;
    const { ownerName, folder } = around;
    const stamp = { revision, updatedAt, deletedAt, path };
    const known = { fields, ...stamp, ownerName, folderName: folder?.name ?? null, hidden: file.hidden };
    this.#known.set(keyOf(caller, row, around), known);
    return fields;
  }
}

type Around = Omit<Surroundings, 'ownerUuid'>;

/** Returns a number for a file and the caller's level on it. */
const keyOf = (caller: Caller, { id, uuid, ownerId }: Stamp, { ancestors }: Around): number =>
  id * LEVELS.length + LEVELS.indexOf(accessOf('file', caller, { uuid, ownerId, ancestors }));
