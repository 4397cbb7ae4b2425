import type { Actor } from '../../api/actor.ts';
import type { ProblemCode } from '../../api/error-catalogue.ts';
import { Problem } from '../../api/problem.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import { NestedServices } from '../../events/nested-services.ts';
import type { JobContext, WorkerServices } from '../../events/processor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import {
  ForeignKeyViolation,
  LimitReached,
  LockTimeout,
  SerializationFailure,
  StatementTimeout,
} from '../../store/postgres/errors.ts';
import type { HeldTask } from '../../tasks/task-processor.ts';
import type { ItemEnd } from '../../tasks/task-steps.sql.ts';
import type { Caller } from '../model/access/caller.ts';
import { findChild, findFolder, type FolderRecord } from '../model/folders/folders.sql.ts';
import { makeFolder } from '../model/folders/new-folder.ts';
import { pathFault, pathOf } from '../model/names/names.policy.ts';
import { requestPurge } from '../blobs/objects.jobs.ts';
import { FileWriter } from '../model/files/file-writer.ts';
import { storeFiles } from '../uploads/uploads.sql.ts';
import type { ImportArguments } from './import-task.ts';
import { addResult, dropEntries, type ImportItem, lockPresent, type StagedContent, unstage } from './imports.sql.ts';

export type ImportTask = HeldTask<ImportArguments>;

interface Publication extends Caller {
  readonly services: WorkerServices;
  readonly context: JobContext;
  readonly bucket: string;
  readonly tx: Tx;
  readonly task: ImportTask;
  readonly target: Location;
  readonly items: readonly ImportItem[];
}

/** A folder of the archive; null: the requester's root. */
type Location = FolderRecord | null;

interface FileItem extends ImportItem {
  readonly content: StagedContent & { readonly key: string };
}

const UNDONE = [ForeignKeyViolation, LimitReached, LockTimeout, SerializationFailure, StatementTimeout];

/**
 * Turns entries whose contents are in the store into files and folders, in the transaction of a step. One statement does this for
 * most of them, as for many uploads; the rest follow one by one. Afterwards every entry has ended, and its content belongs to a
 * version or is purged.
 *
 * Folders of the archive are matched with existing ones by name, or created. Rows are locked in the same order as by single
 * changes: folders, files, then the quota.
 */
export async function publish(publication: Publication): Promise<void> {
  const { services, context, tx, task, actor, target, items } = publication;
  const nested = new NestedServices(services, context, tx);
  const folders = new ArchiveFolders(publication, nested, target);
  if (task.arguments.onConflict === 'replace') await lockPresent(tx, actor.userId, await folders.wanted());
  const made = new Made();
  const files: { readonly item: FileItem; readonly location: Location }[] = [];
  for (const item of items) {
    const names = item.entry.isFolder ? item.entry.names : item.entry.names.slice(0, -1);
    const location = await folders.at(names);
    if (location instanceof Problem) made.fail(item, location);
    else if (item.entry.isFolder) made.folder(item, location);
    else if (item.content?.key) files.push({ item: item as FileItem, location });
  }
  await unstage(tx, task, items);
  await storeAtOnce(publication, nested, made, files);
  await storeSingly(publication, nested, made, files);
  await nested.flush();
  await task.end(made.ends);
  const over = made.ends.filter(({ code }) => code === null).map(({ id }) => id);
  await dropEntries(tx, task.id, over);
  await addResult(tx, task.id, { files: made.files, bytes: made.bytes, folders: folders.made });
  const gone = items.flatMap(({ id, content }) => (made.stored.has(id) || !content?.key ? [] : [content.key]));
  await requestPurge(services.jobs, tx, gone);
}

/** The results of the items of a step. */
class Made {
  readonly ends: ItemEnd[] = [];
  /** Items whose contents are versions now. */
  readonly stored = new Set<number>();
  files = 0;
  bytes = 0;

  fail({ id }: ImportItem, { code, message }: { readonly code: ProblemCode; readonly message: string }): void {
    this.ends.push({ id, code, message });
  }

  skip({ id }: ImportItem): void {
    this.ends.push({ id, code: null, skipped: 'exists' });
  }

  /** Adds a folder. The target itself existed before. */
  folder({ id, entry }: ImportItem, location: Location): void {
    const result = location && { type: 'folder', id: location.uuid, path: entry.names.join('/'), adapted: entry.isAdapted };
    this.ends.push({ id, code: null, ...(result ? { result } : {}) });
  }

  file({ id, entry }: ImportItem, { uuid, name }: { readonly uuid: string; readonly name: string }): void {
    const path = [...entry.names.slice(0, -1), name].join('/');
    const adapted = entry.isAdapted || name !== entry.names.at(-1);
    this.ends.push({ id, code: null, result: { type: 'file', id: uuid, path, adapted } });
    this.stored.add(id);
    this.files += 1;
    this.bytes += entry.size;
  }
}

/** The folders of a step's entries. */
class ArchiveFolders {
  made = 0;
  readonly #of: Publication;
  readonly #nested: NestedServices;
  readonly #target: Location;
  readonly #known = new Map<string, Location | Problem>();

  constructor(of: Publication, nested: NestedServices, target: Location) {
    this.#of = of;
    this.#nested = nested;
    this.#target = target;
  }

  /** Returns the files that are wanted in folders that exist. */
  async wanted(): Promise<{ folder: number | null; name: string }[]> {
    const wanted: { folder: number | null; name: string }[] = [];
    for (const { entry } of this.#of.items) {
      if (entry.isFolder) continue;
      const location = await this.#present(entry.names.slice(0, -1));
      if (location !== undefined) wanted.push({ folder: location?.id ?? null, name: entry.names.at(-1) ?? '' });
    }
    return wanted;
  }

  /** Returns the folder, locked until the end of the step, and makes it if needed; or why there can be none. */
  async at(names: readonly string[]): Promise<Location | Problem> {
    if (names.length === 0) return this.#target;
    const key = names.join('/');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const parent = await this.at(names.slice(0, -1));
    const location = parent instanceof Problem ? parent : await this.#below(parent, names);
    this.#known.set(key, location);
    return location;
  }

  async #below(parent: Location, names: readonly string[]): Promise<Location | Problem> {
    const { tx, services } = this.#of;
    const present = await this.#child(parent, names.at(-1) ?? '');
    if (present) return findFolder(tx, present.uuid, 'share');
    const wanted = { name: names.at(-1) ?? '', on_conflict: 'reuse' as const };
    try {
      const by = { caller: this.#of, random: services.random };
      const { created, folder } = await this.#nested.call(() => makeFolder(tx, by, parent, wanted), { undone: false });
      if (created) this.made += 1;
      return folder;
    } catch (error) {
      return problemOf(error);
    }
  }

  #child(parent: Location, name: string): Promise<FolderRecord | null> {
    const ownerId = parent?.ownerId ?? this.#of.actor.userId;
    return findChild(this.#of.tx, { parentId: parent?.id ?? null, ownerId, name });
  }

  /** Returns undefined if the folder does not exist. */
  async #present(names: readonly string[]): Promise<Location | undefined> {
    let location = this.#target;
    for (const name of names) {
      location = await this.#child(location, name);
      if (location === null) return undefined;
    }
    return location;
  }
}

type LocatedFiles = readonly { readonly item: FileItem; readonly location: Location }[];

/** Stores the files whose names are free, in one statement. */
async function storeAtOnce(of: Publication, nested: NestedServices, made: Made, files: LocatedFiles): Promise<void> {
  const { services, context, bucket, tx, actor } = of;
  await tx.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [actor.userId]);
  const origin = JSON.stringify({ user: actor.userId });
  const uploads = files.flatMap(({ item, location }) => {
    const name = item.entry.names.at(-1) ?? '';
    const path = pathOf(location?.path ?? null, name);
    if (pathFault(path, 0) !== null) return [];
    const uuid = services.random.uuid();
    const { size, crc } = item.entry;
    const { key, checksum, isEncrypted, mimeType } = item.content;
    const event = services.events.fileCreated({ id: uuid, name, size, owner_id: actor.userUuid });
    const blob = { key, size, checksum, crc32: crc, isEncrypted };
    return [{ item, file: { uuid, name, path, mimeType, folder: location, blob, event, origin, ownerId: actor.userId, bucket } }];
  });
  if (uploads.length === 0) return;
  const store = () =>
    storeFiles(
      tx,
      uploads.map(({ file }) => file),
      services.clock.now(),
    );
  const stored = await nested.call(store, { undone: false }).catch((error: unknown) => {
    if (UNDONE.some((kind) => error instanceof kind)) return undefined;
    throw error;
  });
  if (!stored) return;
  for (const { item, file } of uploads) {
    const record = stored.files.get(file.uuid);
    if (record) made.file(item, record);
  }
  context.cache.invalidate(tx, USERS_TAG);
  if (stored.deliveries > 0) services.events.notifyAfterCommit(tx);
}

/** Stores the other files, each in a savepoint, by `on_conflict`. */
async function storeSingly(of: Publication, nested: NestedServices, made: Made, files: LocatedFiles): Promise<void> {
  const { services, bucket, tx, task, actor } = of;
  const { onConflict } = task.arguments;
  const { cache, events } = nested;
  const writer = new FileWriter({ ...services, cache, events, bucket });
  for (const { item, location } of files) {
    if (made.stored.has(item.id)) continue;
    const name = item.entry.names.at(-1) ?? '';
    if (onConflict === 'skip' && (await isTaken(tx, actor, location, name))) {
      made.skip(item);
      continue;
    }
    const { key, checksum, isEncrypted, mimeType } = item.content;
    const { size, crc } = item.entry;
    const upload = { name, mimeType, blob: { key, size, checksum, crc32: crc, isEncrypted }, target: { ownerName: '' } };
    const fields = {
      on_conflict: onConflict === 'skip' ? ('fail' as const) : onConflict,
      ...(location ? { folder_id: location.uuid } : {}),
    };
    try {
      const { file } = await nested.call(() => writer.create(tx, of, upload, fields), { undone: false });
      made.file(item, file);
    } catch (error) {
      made.fail(item, problemOf(error));
    }
  }
}

const isTaken = async (tx: Tx, actor: Actor, location: Location, name: string): Promise<boolean> =>
  (await tx.files.find({
    folderId: location?.id ?? null,
    name,
    deletedAt: null,
    ...(location ? {} : { ownerId: actor.userId }),
  })) !== null;

/** Returns the Problem of one entry; throws an error that fails the whole step. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof LimitReached) return new Problem('quota_exceeded', error.message);
  throw error;
}
