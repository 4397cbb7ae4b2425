import { FILE_METADATA_TTL_SECONDS } from '../../../api/lifetimes.ts';
import type { Actor, Level } from '../../../api/actor.ts';
import { requireMatch } from '../../../api/etag.ts';
import { type Page, page, pageRequest } from '../../../api/paging.ts';
import { invalid, Problem } from '../../../api/problem.ts';
import type { RequestInfo } from '../../../api/endpoint.ts';
import type { Events } from '../../../events/events.ts';
import type { JobRequests } from '../../../events/job-requests.ts';
import type { TenantSettings } from '../../../feature/services.ts';
import { Batcher } from '../../../runtime/batcher.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Database, Tx } from '../../../store/postgres/database.ts';
import { grantsTag } from '../../../access/tags.ts';
import { PROFILES_TAG, USERS_TAG } from '../../../accounts/users/users.tags.ts';
import { fileTag, FOLDERS_TAG } from '../content.tags.ts';
import { DecodedValues } from '../../../store/redis/decoded-values.ts';
import type { CacheEntry, CacheLookup, TaggedCache } from '../../../store/redis/tagged-cache.ts';
import {
  allows,
  type Granted,
  grantedAtLeast,
  hiddenAncestors,
  isOwnedBy,
  levelOn,
  requireLevel,
  requireMove,
} from '../access/inherited-access.policy.ts';
import { endOutOfReach, rightsOfMove } from '../access/delegated-grants.sql.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../access/authorized-transactions.ts';
import { nameConflict, orNameConflict } from '../names/name-conflict.ts';
import { unlessTaken } from '../../../store/postgres/savepoint.ts';
import { holdFolderOf, openFolder } from '../folders/folders.sql.ts';
import { alternativeName, extensionOf, NAME_ATTEMPTS, pathFault, pathOf } from '../names/names.policy.ts';
import { FILES, fileList, filesOf, type PageRow } from '../../lists/file-list.sql.ts';
import { fileCreated, fileUpdated } from './files.events.ts';
import { includedEtag, includedFields } from '../../lists/file-includes.view.ts';
import type { Include } from '../../lists/file-includes.schema.ts';
import { ENTRY_BYTES } from '../metadata-bytes.ts';
import { type FileRecord, findFile, findFiles, cachedRecord, type ListedFile, lockFiles } from './files.sql.ts';
import { fileEtag, fileSeenBy, presentFile, type SeenFile } from './files.view.ts';
import type { FileChanges, FileQuery, FileRestoration, FileView, FileWithIncludes } from './files.schema.ts';
import { TrashSchedule } from '../../trash/trash-schedule.ts';
import { requestPurge } from '../../blobs/objects.jobs.ts';

/** Where a file is or will be; `path` is the folder's, null in the owner's root. */
type FileLocation = Pick<FileRecord, 'folder' | 'ancestors'> & { readonly path: string | null };

/** Bytes of versions, of the metadata that are still there, and the versions after the first. */
const FREE = `
  UPDATE users SET storage_used = greatest(0, storage_used - $2::bigint
    - (SELECT coalesce(sum(${ENTRY_BYTES}), 0) FROM file_metadata m WHERE m.file_id = $3)),
    entries = greatest(0, entries - (SELECT count(*) FROM file_versions v WHERE v.file_id = $3 AND v.version_number > 1)) WHERE id = $1`;

/**
 * Files: reading, changing, trash.
 *
 * Invariants:
 * - To a caller who may not read it, a file looks like one that does not exist (404), at every endpoint. Nor does a file disclose
 *   ancestors that the caller may not see: the cached record is the same for all, and each caller's view of it is computed
 *   (`fileSeenBy`).
 * - A soft-deleted file is 404 everywhere but in the trash list, restore and permanent deletion.
 * - No two live files of one place have the same name; the database's unique index decides.
 * - A change, a deletion and a restoration each emit one event in the same transaction; purging a file from the trash emits none,
 *   since trashing it did.
 * - A permanent deletion frees its owner's quota by all its versions and has their objects purged, in the same transaction.
 */
export class Files {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #transactions: AuthorizedTransactions;
  readonly #jobs: JobRequests;
  readonly #events: Events;
  readonly #clock: Clock;
  readonly #schedule: TrashSchedule;
  readonly #records = new DecodedValues(cachedRecord);
  /**
   * Files that several requests read together, none of them cached, cost one statement. It begins after each of their look-ups.
   */
  readonly #loads = new Batcher<string, FileRecord | null>((ids) => findFiles(this.#db.tables, ids), { atOnce: 3 });

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    jobs: JobRequests;
    events: Events;
    clock: Clock;
    settings: Pick<TenantSettings, 'trashRetentionMs'>;
    /** Left out: one of its own. */
    trash?: TrashSchedule;
  }) {
    this.#db = deps.db;
    this.#schedule = deps.trash ?? new TrashSchedule(deps);
    this.#cache = deps.cache;
    this.#transactions = authorizedTransactions(deps);
    this.#jobs = deps.jobs;
    this.#events = deps.events;
    this.#clock = deps.clock;
  }

  /**
   * A live file that the actor may read, as they see it. `found`: the look-up of `fileEntry`; without it this makes one, a round
   * trip to Redis. No SQL when it is cached, else one statement. Throws `not_found`.
   */
  async read(actor: Actor, id: string, found?: CacheLookup): Promise<SeenFile> {
    const [file, granted] = await Promise.all([this.#find(id, found), actor.permissionSet()]);
    if (!file || file.deletedAt !== null) throw new Problem('not_found');
    requireLevel(levelOn('file', actor, file, granted), 'read');
    return fileSeenBy(actor, granted, file);
  }

  /** Live files that the actor may read, and what refused the others, by their ids. One statement. */
  async readAll(actor: Actor, ids: readonly string[]): Promise<Decided> {
    return decided(actor, await actor.permissionSet(), ids, await findFiles(this.#db.tables, ids), 'read');
  }

  /**
   * The same with the fields that `include` names, for one statement more, and the entity tag of all of it. Throws `not_found`.
   */
  async show(
    actor: Actor,
    id: string,
    { include, found }: { readonly include?: readonly Include[] | undefined; readonly found?: CacheLookup },
  ): Promise<{ file: FileWithIncludes; etag: string }> {
    const seen = await this.read(actor, id, found);
    const file = presentFile(seen);
    if (include === undefined) return { file, etag: file.etag };
    const by = { actor, granted: await actor.permissionSet() };
    const fields = (await includedFields(this.#db, by, [seen], include)).get(seen.id) ?? {};
    return { file: { ...file, ...fields }, etag: includedEtag(file, fields) };
  }

  /** The files that the actor may see; in the trash those that they may write. One statement, and one more with `include`. */
  async list(actor: Actor, query: FileQuery): Promise<Page<FileWithIncludes>> {
    const request = pageRequest(query, FILES.order);
    const wanted = query.trashed ? 'write' : 'read';
    const granted = await actor.permissionSet();
    const { sql, params, name } = fileList(
      { userId: actor.userId, ...grantedAtLeast(granted, wanted), known: grantedAtLeast(granted, 'read').folders },
      query,
      request,
    );
    const rows = await (name === undefined
      ? this.#db.query<PageRow>(sql, params)
      : this.#db.prepared<PageRow>(name, sql, params));
    if (rows.length === 0 && query.folder_id !== undefined && query.folder_id !== 'root') throw new Problem('not_found');
    const found = rows.filter(({ id }) => id !== null);
    const files = filesOf(found);
    const fields =
      query.include && (await includedFields(this.#db, { actor, granted }, files.slice(0, request.limit), query.include));
    return page(
      request,
      found,
      (row, at) => ({ ...presentFile(fileSeenBy(actor, granted, files[at] as ListedFile)), ...fields?.get(row.id) }),
      (row) => FILES.valuesOf(request, row),
      fields?.size,
    );
  }

  /**
   * Renames and moves. A move needs write on the destination and gives nobody more rights; into the root only the owner moves.
   * Throws `name_conflict`.
   */
  async change(actor: Actor, id: string, patch: FileChanges, ifMatch: RequestInfo['ifMatch']): Promise<FileView> {
    return this.#transactions.run(actor, async (tx, granted) => {
      const file = await this.lock(tx, actor, granted, id, 'write', { ifMatch });
      const location = await this.#destination(tx, actor, granted, file, patch.folder_id);
      const name = patch.name ?? file.name;
      const path = pathOf(location.path, name);
      const fault = pathFault(path, hiddenAncestors(actor, location.ancestors, granted));
      if (fault !== null) throw invalid('name', fault);
      if (name === file.name && location.folder?.id === file.folder?.id) return presentFile(fileSeenBy(actor, granted, file));
      const changes = { name, path, extension: extensionOf(name), folderId: location.folder?.id ?? null };
      const [row] = await orNameConflict(tx.files.update({ id: file.id }, changes));
      if (!row) throw new Problem('not_found');
      if (location.folder?.id !== file.folder?.id)
        this.#cache.invalidate(tx, ...(await endOutOfReach(tx, file, location.ancestors)).map(grantsTag));
      this.#cache.invalidate(tx, fileTag(id));
      const { revision, updatedAt } = row;
      const changed = { ...file, ...changes, folder: location.folder, revision, updatedAt: updatedAt.toISOString() };
      await this.#emitChanges(tx, file, changed);
      return presentFile(fileSeenBy(actor, granted, { ...changed, ancestors: location.ancestors }));
    });
  }

  /** Moves the file to the trash. Throws `not_found` when it is there already. */
  async trash(actor: Actor, id: string, ifMatch: RequestInfo['ifMatch']): Promise<void> {
    await this.#schedule.ensure();
    await this.#transactions.run(actor, async (tx, granted) => {
      const file = await this.lock(tx, actor, granted, id, 'write', { ifMatch });
      const deletedAt = this.#clock.now();
      await tx.files.update({ id: file.id }, { deletedAt, expiresAt: this.#schedule.expiryOf(deletedAt) });
      await this.#events.emit(tx, 'file.deleted', {
        ...fileCreated(file),
        deleted_at: deletedAt.toISOString(),
        permanent: false,
      });
      this.#cache.invalidate(tx, fileTag(id));
    });
  }

  /**
   * Moves many files to the trash; of those that stay, gives what refused each, by its id. Four statements, and one for each
   * 1,000 events.
   */
  async trashAll(actor: Actor, ids: readonly string[]): Promise<ReadonlyMap<string, Problem>> {
    await this.#schedule.ensure();
    return this.#transactions.run(actor, async (tx, granted) => {
      await lockFiles(tx, ids);
      const { files, refused } = decided(actor, granted, ids, await findFiles(tx, ids), 'write');
      const deletedAt = this.#clock.now();
      const changes = { deletedAt, expiresAt: this.#schedule.expiryOf(deletedAt) };
      if (files.length > 0) await tx.files.update({ id: files.map(({ id }) => id) }, changes);
      const deletions = files.map((file) => ({ ...fileCreated(file), deleted_at: deletedAt.toISOString(), permanent: false }));
      await this.#events.emitAll(tx, 'file.deleted', deletions);
      this.#cache.invalidate(tx, ...files.map(({ uuid }) => fileTag(uuid)));
      return refused;
    });
  }

  /** Deletes the file permanently, from the trash or directly. Requires the level admin, since it cannot be restored. */
  async purge(actor: Actor, id: string, ifMatch: RequestInfo['ifMatch']): Promise<void> {
    await this.#transactions.run(actor, async (tx, granted) => {
      const file = await this.lock(tx, actor, granted, id, 'admin', { ifMatch, state: 'any' });
      const versions = await tx.fileVersions.list({ fileId: file.id });
      await tx.permissions.delete({ resourceType: 'file', resourceId: file.id });
      const freed = versions.reduce((sum, { size }) => sum + size, 0);
      await tx.query(FREE, [file.ownerId, freed, file.id]);
      await tx.files.delete({ id: file.id });
      await requestPurge(
        this.#jobs,
        tx,
        versions.map(({ blobName }) => blobName),
      );
      if (file.deletedAt === null) {
        const deletedAt = this.#clock.now().toISOString();
        await this.#events.emit(tx, 'file.deleted', { ...fileCreated(file), deleted_at: deletedAt, permanent: true });
      }
      this.#cache.invalidate(tx, fileTag(id), USERS_TAG);
    });
  }

  /**
   * Takes a file out of the trash, to where it was or to another folder; a live one is left as it is. Throws `name_conflict` when
   * its name has been taken since, `conflict` when its folder is in the trash and no other is named.
   */
  async restore(actor: Actor, id: string, input: FileRestoration, ifMatch: RequestInfo['ifMatch']): Promise<FileView> {
    return this.#transactions.run(actor, async (tx, granted) => {
      // Locked before the file, as a deletion of the folder locks it.
      const openFolderId = await holdFolderOf(tx, id, input.folder_id ?? null);
      const file = await this.lock(tx, actor, granted, id, 'write', { ifMatch, state: 'any' });
      if (file.deletedAt === null) return presentFile(fileSeenBy(actor, granted, file));
      const location = await this.#destination(tx, actor, granted, file, input.folder_id);
      if (location.folder !== null && location.folder.id === file.folder?.id && location.folder.id !== openFolderId)
        throw new Problem(
          'conflict',
          'The folder of this file is in the trash; restore the folder first, or name another with folder_id.',
        );
      const { row, changes } = await this.#restoreAs(tx, actor, granted, file, location, input.on_conflict);
      if (location.folder?.id !== file.folder?.id)
        this.#cache.invalidate(tx, ...(await endOutOfReach(tx, file, location.ancestors)).map(grantsTag));
      this.#cache.invalidate(tx, fileTag(id));
      const { revision, updatedAt } = row;
      const restored = {
        ...file,
        ...changes,
        folder: location.folder,
        deletedAt: null,
        revision,
        updatedAt: updatedAt.toISOString(),
      };
      await this.#events.emit(tx, 'file.updated', fileUpdated(restored, ['restored', ...changesOf(file, restored)]));
      return presentFile(fileSeenBy(actor, granted, { ...restored, ancestors: location.ancestors }));
    });
  }

  /** Throws `name_conflict`; with `rename` where none of the alternatives is free. */
  async #restoreAs(
    tx: Tx,
    actor: Actor,
    granted: Granted,
    file: FileRecord,
    location: FileLocation,
    onConflict: FileRestoration['on_conflict'],
  ): Promise<{ row: { revision: number; updatedAt: Date }; changes: { name: string; path: string } }> {
    const hidden = hiddenAncestors(actor, location.ancestors, granted);
    for (let attempt = 0; attempt <= (onConflict === 'rename' ? NAME_ATTEMPTS : 0); attempt += 1) {
      const name = attempt === 0 ? file.name : alternativeName(file.name, attempt);
      const path = pathOf(location.path, name);
      const fault = pathFault(path, hidden);
      if (fault !== null) throw invalid('folder_id', fault);
      const changes = { name, path };
      const columns = {
        ...changes,
        extension: extensionOf(name),
        folderId: location.folder?.id ?? null,
        deletedAt: null,
        trashedWith: null,
        expiresAt: null,
      };
      const update = () => tx.files.update({ id: file.id }, columns);
      const [row] = (await (onConflict === 'rename' ? unlessTaken(tx, update) : orNameConflict(update()))) ?? [];
      if (row) return { row, changes };
    }
    throw nameConflict();
  }

  /**
   * A file that the actor has this level on, locked until the end of the transaction. `any`: also in the trash, where those with
   * write access see it.
   * `ifMatch` is compared with the tag of what they see. One statement.
   */
  lock(tx: Tx, actor: Actor, granted: Granted, id: string, wanted: Level, expected: Expected): Promise<FileRecord> {
    return lockFile(tx, actor, granted, id, wanted, expected);
  }

  async #emitChanges(tx: Tx, before: FileRecord, after: FileRecord): Promise<void> {
    const changes = changesOf(before, after);
    if (changes.length > 0) await this.#events.emit(tx, 'file.updated', fileUpdated(after, changes));
  }

  async #find(id: string, found?: CacheLookup): Promise<FileRecord | null> {
    const lookup = found ?? (await this.#cache.lookup(fileEntry(id)));
    const cached = lookup.value === undefined ? undefined : this.#records.of(id, lookup.value);
    if (cached) return cached;
    const file = await this.#loads.submit(id);
    if (file) await lookup.put(JSON.stringify(file), FILE_METADATA_TTL_SECONDS);
    return file;
  }

  /**
   * Where the file will be; `undefined` leaves it where it is, and so does what is shown to the actor as its folder: null for
   * whoever sees none.
   */
  async #destination(
    tx: Tx,
    actor: Actor,
    granted: Granted,
    file: FileRecord,
    folderId: string | null | undefined,
  ): Promise<FileLocation> {
    const seen = fileSeenBy(actor, granted, file).folder?.uuid ?? null;
    if (folderId === undefined || folderId === seen) return locationOf(file);
    if (folderId === null) {
      if (file.ownerId === actor.userId) return { folder: null, ancestors: [], path: null };
      throw new Problem('forbidden', 'Only the owner of a file can move it to their root folder.');
    }
    const folder = await openFolder(tx, actor, granted, folderId, 'folder_id');
    if (!isOwnedBy(file, actor))
      requireMove(actor, file, folder.ancestors, await rightsOfMove(tx, actor, file, folder.ancestors, this.#clock.now()));
    return { folder, ancestors: folder.ancestors, path: folder.path };
  }
}

/** Like `Files.lock`. */
export const lockFile = async (
  tx: Tx,
  actor: Actor,
  granted: Granted,
  id: string,
  wanted: Level,
  expected: Expected,
): Promise<FileRecord> => requireFile(actor, granted, await findFile(tx, id, true), wanted, expected);

/** What a file is to be: live unless `any` is given, and of these tags. */
interface Expected {
  readonly ifMatch?: RequestInfo['ifMatch'];
  readonly state?: 'live' | 'any';
}

function requireFile(
  actor: Actor,
  granted: Granted,
  file: FileRecord | null,
  wanted: Level,
  { ifMatch, state = 'live' }: Expected,
): FileRecord {
  if (!file) throw new Problem('not_found');
  const level = levelOn('file', actor, file, granted);
  if (file.deletedAt !== null && (state === 'live' || !allows(level, 'write'))) throw new Problem('not_found');
  requireLevel(level, wanted);
  requireMatch(ifMatch, fileEtag(fileSeenBy(actor, granted, file)));
  return file;
}

interface Decided {
  readonly files: readonly FileRecord[];
  readonly refused: ReadonlyMap<string, Problem>;
}

/** Which of the files `found`, in the order of `ids`, the actor has this level on: live ones, or `any`. */
export function decided(
  actor: Actor,
  granted: Granted,
  ids: readonly string[],
  found: readonly (FileRecord | null)[],
  wanted: Level,
  state: Expected['state'] = 'live',
): Decided {
  const refused = new Map<string, Problem>();
  const files = found.filter((file, at): file is FileRecord => {
    const problem = refusalOf(() => requireFile(actor, granted, file, wanted, { state }));
    if (problem) refused.set(ids[at] as string, problem);
    return problem === null;
  });
  return { files, refused };
}

/** The Problem that is thrown; null: none is. */
export function refusalOf(check: () => unknown): Problem | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Where a file's metadata is cached, as everybody's: what each sees of it is decided anew. */
export const fileEntry = (id: string): CacheEntry => ({ key: `file:${id}`, tags: [fileTag(id), FOLDERS_TAG, PROFILES_TAG] });

const changesOf = (before: FileRecord, after: FileRecord): ('name' | 'folder')[] => [
  ...(after.name === before.name ? [] : (['name'] as const)),
  ...(after.folder?.id === before.folder?.id ? [] : (['folder'] as const)),
];

const locationOf = (file: FileRecord): FileLocation => ({
  folder: file.folder,
  ancestors: file.ancestors,
  path: file.folder ? file.path.slice(0, -(file.name.length + 1)) : null,
});
