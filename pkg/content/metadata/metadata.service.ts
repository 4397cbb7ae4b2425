import type { Actor } from '../../api/actor.ts';
import { requireMatch } from '../../api/etag.ts';
import { page, type Page, pageRequest } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Events } from '../../events/events.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import { selectPage } from '../../store/postgres/keyset.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { Caller } from '../model/access/caller.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { fileUpdated } from '../model/files/files.events.ts';
import { decided, type Files, lockFile, refusalOf, type SetResult } from '../model/files/files.service.ts';
import { type FileRecord, findFiles, lockFiles } from '../model/files/files.sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import { entryBytes } from '../model/metadata-bytes.ts';
import { storedValue } from './metadata.policy.ts';
import { ENTRIES_MAX, VALUES_MAX_BYTES, type MetadataEntry, type MetadataQuery, type NewMetadata } from './metadata.schema.ts';
import {
  DELETE_ENTRIES,
  DELETE_ENTRY,
  FIND_ENTRIES,
  FIND_ENTRY,
  METADATA,
  METADATA_COLUMNS,
  PUT_ENTRIES,
  PUT_ENTRY,
  type StoredEntry,
} from './metadata.sql.ts';
import { metadataEtag, presentMetadata } from './metadata.view.ts';
import { MIB } from '../../runtime/bytes.ts';

type IfMatch = readonly string[] | '*' | undefined;

/** A page ends before the entry with which its JSON would be longer. Its first entry is always shown. */
const PAGE_MAX_BYTES = 4 * MIB;

/**
 * Typed metadata of files. People who may read a file may read its metadata, and people who may write it may change them.
 *
 * Invariants:
 * - A file has at most ENTRIES_MAX entries and VALUES_MAX_BYTES of values, however many writers race: the file's row is locked
 *   while they are counted.
 * - Entries count against the quota of the file's owner, in the statement that writes them.
 * - A stored value always has its declared type.
 * - A change of a file's metadata emits one `file.updated` (`metadata`) in its transaction; writing the present value changes
 *   nothing.
 */
export class Metadata {
  readonly #db: Database;
  readonly #files: Files;
  readonly #transactions: AuthorizedTransactions;
  readonly #events: Events;
  readonly #cache: TaggedCache;
  readonly #clock: Clock;

  constructor(deps: { db: Database; cache: TaggedCache; files: Files; events: Events; clock: Clock }) {
    this.#cache = deps.cache;
    this.#clock = deps.clock;
    this.#db = deps.db;
    this.#files = deps.files;
    this.#transactions = authorizedTransactions(deps);
    this.#events = deps.events;
  }

  /** Takes one statement, and one more where the file is not cached. Throws `not_found`. */
  async list(actor: Actor, fileId: Uuid, query: MetadataQuery): Promise<Page<MetadataEntry>> {
    const file = await this.#files.read(actor, fileId);
    const request = pageRequest(query, METADATA.order);
    const { sql, params } = selectPage(METADATA, request, {
      columns: METADATA_COLUMNS,
      from: 'file_metadata m',
      where: (parameters) => [`m.file_id = ${parameters.add(file.id)}`],
    });
    const rows = await this.#db.query<StoredEntry>(sql, params);
    const entries = rows.map((row) => presentMetadata(row, fileId));
    return page(
      request,
      rows,
      (_row, at) => entries[at] as MetadataEntry,
      (row) => METADATA.valuesOf(request, row),
      Math.min(request.limit, countWithin(entries)),
    );
  }

  /**
   * Takes four statements, two if the value does not change. Throws `not_found`, `forbidden`, `precondition_failed`,
   * `value_type_mismatch`, `validation_failed`, `quota_exceeded`, and `conflict` when there are too many.
   */
  async put(
    actor: Actor,
    fileId: Uuid,
    key: string,
    input: NewMetadata,
    ifMatch: IfMatch,
  ): Promise<{ readonly created: boolean; readonly entry: MetadataEntry }> {
    const { value, type } = storedValue(input);
    return this.#transactions.run(actor, async (tx, caller) => {
      const file = await lockFile(tx, caller, fileId, 'write', {});
      const { entries, bytes, present } = await find(tx, file, key);
      requirePresent(present, ifMatch, fileId);
      if (present?.value === value && present.type === type) return { created: false, entry: presentMetadata(present, fileId) };
      requireRoom({ entries, bytes, present }, value);
      const added = entryBytes(key, value) - (present ? entryBytes(key, present.value) : 0);
      const values = [file.id, key, value, type, file.ownerId, added, this.#clock.now()];
      const [row] = await tx.query<StoredEntry & { counted: boolean }>(PUT_ENTRY, values);
      if (!row) throw new Problem('internal');
      if (!row.counted) throw new Problem('quota_exceeded');
      await this.#emit(tx, file);
      return { created: !present, entry: presentMetadata(row, fileId) };
    });
  }

  /** Takes four statements. Throws `not_found`, `forbidden`, `precondition_failed`. */
  async remove(actor: Actor, fileId: Uuid, key: string, ifMatch: IfMatch): Promise<void> {
    await this.#transactions.run(actor, async (tx, caller) => {
      const file = await lockFile(tx, caller, fileId, 'write', {});
      const { present } = await find(tx, file, key);
      if (!present) throw noSuchEntry();
      requirePresent(present, ifMatch, fileId);
      await tx.query(DELETE_ENTRY, [file.id, key, file.ownerId, entryBytes(key, present.value)]);
      await this.#emit(tx, file);
    });
  }

  /**
   * Puts the same entry on many files; returns why each refused file was refused, by its id. Takes four statements and those of
   * the events. Throws what `put` throws.
   */
  async putAll(actor: Actor, fileIds: readonly Uuid[], key: string, input: NewMetadata): Promise<SetResult> {
    const { value, type } = storedValue(input);
    return this.#transactions.run(actor, async (tx, caller) => {
      const { files, refused, found } = await this.#lockAll(tx, caller, fileIds, key);
      const changing = files.filter((file) => {
        const { entries = 0, bytes = 0, present } = found.get(file.id) ?? {};
        if (present?.value === value && present?.type === type) return false;
        const problem = refusalOf(() => requireRoom({ entries, bytes, present }, value));
        if (problem) refused.set(file.uuid, problem);
        return problem === null;
      });
      const before = ({ id }: FileRecord): StoredEntry | undefined => found.get(id)?.present;
      const owners = bytesByOwner(changing, (file) => {
        const present = before(file);
        return entryBytes(key, value) - (present ? entryBytes(key, present.value) : 0);
      });
      if (changing.length === 0) return { refused };
      const values = [idsOf(changing), key, value, type, [...owners.keys()], [...owners.values()], this.#clock.now()];
      const [row] = await tx.query<{ counted: boolean | null }>(PUT_ENTRIES, values);
      if (!row?.counted) throw new Problem('quota_exceeded');
      await this.#emit(tx, ...changing);
      return { refused };
    });
  }

  /** Deletes the entry of each file; results and errors are those of `putAll`. */
  async removeAll(actor: Actor, fileIds: readonly Uuid[], key: string): Promise<SetResult> {
    return this.#transactions.run(actor, async (tx, caller) => {
      const { files, refused, found } = await this.#lockAll(tx, caller, fileIds, key);
      const changing = files.filter(({ id, uuid }) => {
        const isThere = found.get(id)?.present !== undefined;
        if (!isThere) refused.set(uuid, noSuchEntry());
        return isThere;
      });
      const owners = bytesByOwner(changing, ({ id }) => entryBytes(key, found.get(id)?.present?.value ?? ''));
      if (changing.length === 0) return { refused };
      await tx.query(DELETE_ENTRIES, [idsOf(changing), key, [...owners.keys()], [...owners.values()]]);
      await this.#emit(tx, ...changing);
      return { refused };
    });
  }

  async #lockAll(tx: Tx, caller: Caller, fileIds: readonly Uuid[], key: string) {
    await lockFiles(tx, fileIds);
    const { files, refused } = decided(caller, fileIds, await findFiles(tx, fileIds), 'write');
    const rows = await tx.query<FoundRow & { file: number }>(FIND_ENTRIES, [idsOf(files), key]);
    return { files, refused: new Map(refused), found: new Map(rows.map((row) => [row.file, foundIn(row)])) };
  }

  async #emit(tx: Tx, ...files: readonly FileRecord[]): Promise<void> {
    const events = files.map((file) => fileUpdated(file, ['metadata']));
    await this.#events.emitAll(tx, 'file.updated', events);
    this.#cache.invalidate(tx, USERS_TAG);
  }
}

/** The metadata that a file has, and its entry of one key. */
interface Found {
  readonly entries: number;
  /** The bytes of all values. */
  readonly bytes: number;
  readonly present: StoredEntry | undefined;
}
type FoundRow = StoredEntry & { readonly entries: number; readonly bytes: number; readonly key: string | null };

async function find(tx: Tx, file: FileRecord, key: string): Promise<Found> {
  const [row] = await tx.query<FoundRow>(FIND_ENTRY, [file.id, key]);
  return row ? foundIn(row) : { entries: 0, bytes: 0, present: undefined };
}

const foundIn = (row: FoundRow): Found => ({
  entries: row.entries,
  bytes: row.bytes,
  present: row.key == null ? undefined : row,
});

const noSuchEntry = (): Problem => new Problem('not_found', 'The file has no metadata with this key.');

/** Throws `conflict` where a file may not have the entry too, or the longer value. */
function requireRoom({ entries, bytes, present }: Found, value: string | null): void {
  if (!present && entries >= ENTRIES_MAX)
    throw new Problem('conflict', `The file has ${ENTRIES_MAX} metadata entries, the maximum; delete one first.`);
  if (bytes - Buffer.byteLength(present?.value ?? '') + Buffer.byteLength(value ?? '') > VALUES_MAX_BYTES)
    throw new Problem('conflict', `The metadata of a file may have ${VALUES_MAX_BYTES} bytes in all; delete some first.`);
}

const idsOf = (files: readonly FileRecord[]): number[] => files.map(({ id }) => id);

function bytesByOwner(files: readonly FileRecord[], bytesOf: (file: FileRecord) => number): ReadonlyMap<number, number> {
  const owners = new Map<number, number>();
  for (const file of files) owners.set(file.ownerId, (owners.get(file.ownerId) ?? 0) + bytesOf(file));
  return owners;
}

/** Throws `precondition_failed` if If-Match does not hold; for a missing entry it never holds (RFC 9110 §13.1.1). */
function requirePresent(present: StoredEntry | undefined, ifMatch: IfMatch, fileUuid: Uuid): void {
  if (present) requireMatch(ifMatch, metadataEtag(present, fileUuid));
  else if (ifMatch !== undefined) throw new Problem('precondition_failed');
}

/** Returns the number of entries, from the first on, that fit on a page. */
function countWithin(entries: readonly MetadataEntry[]): number {
  let bytes = 0;
  const last = entries.findIndex((entry, at) => {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    return at > 0 && bytes > PAGE_MAX_BYTES;
  });
  return last === -1 ? entries.length : last;
}
