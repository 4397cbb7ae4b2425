import { hash as sha256 } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Actor, PermissionSet } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import { type JobContext, TryLater, type WorkerServices } from '../../events/processor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { ObjectMissing, type Objects } from '../../store/s3/objects.ts';
import { TaskOver, taskProcessor, type TaskSteps } from '../../tasks/task-processor.ts';
import { levelOn, requireLevel } from '../access/inherited-access.policy.ts';
import { requesterOf } from '../access/requester.ts';
import { findFile } from '../files/files.sql.ts';
import { openFolder } from '../folders/folders.sql.ts';
import { requestPurge } from '../objects/objects.jobs.ts';
import { deleteUpload } from '../partial-uploads/partial-uploads.sql.ts';
import { Blobs, type NewObjects } from '../uploads/blobs.ts';
import { reserve } from '../uploads/quota-reservation.sql.ts';
import { alreadyReserved } from '../uploads/upload.ts';
import { UNKNOWN_TYPE, uploadType } from '../uploads/uploads.schema.ts';
import { VersionSchedule } from '../versions/version-schedule.ts';
import { ArchiveReader, ReaderGone } from './archive-reader.ts';
import { Refused } from './archive-rules.ts';
import { IMPORT, type ImportArguments } from './import-task.ts';
import {
  addEntries,
  clearItems,
  countEnds,
  countSkipped,
  findStaging,
  type ImportItem,
  isRunning,
  markPlanned,
  stage,
  type Staged,
  STAGED_MS,
  storedItems,
  unstoredItems,
} from './imports.sql.ts';
import { LIST_LIMITS, Plan, type PlannedEntry } from './plan.policy.ts';
import { type ImportTask, publish } from './publish.ts';

/** Entries that are planned, stored or made files in one step: a crash costs no more work than that. */
const STEP = 100;
const PLAN_STEP = 1_000;
/** The contents of a step, where it is more than one. */
const STEP_BYTES = 32 * 1024 ** 2;
/** Contents that are sent to the store at once. Only the last is larger than what Blobs holds of a small one. */
const STORED_AT_ONCE = 8;
/** Of processes of 192 MiB at most. */
const READERS_MAX = 2;
const READERS_BUSY_MS = 1_000;
/** A cancellation is seen so soon, also within a large content. */
const LOOK_EVERY_MS = 400;
/** A reader that ends for no known reason is tried so often: an archive that ends it is refused then. */
const ENDS_MAX = 3;

type Steps = TaskSteps<ImportArguments>;

/** The archive of a task that runs, and whoever imports it. */
interface Import {
  readonly id: number;
  readonly uuid: string;
  readonly userId: number;
  readonly userUuid: string;
  readonly arguments: ImportArguments;
  readonly objects: Objects;
  readonly blobs: Blobs;
  readonly isPlanned: boolean;
  readonly signal: AbortSignal;
}

/**
 * Makes files and folders of a zip archive: plans its entries, stores their contents, and when all of them are there makes them files.
 *
 * Invariants:
 * - Nothing is stored before all limits have been checked and the quota is reserved, and nothing is visible before all contents are stored and right. A
 *   refused archive leaves nothing: its contents, which only the task names, are purged in the transaction that deletes their rows, also after a cancellation.
 * - An entry and its state are one transaction, and so are a content and its entry: after a crash the task goes on with what was not committed.
 * - The archive is parsed and inflated by a process that has nothing to betray (`ArchiveReader`); bytes flow from the store through it to the store.
 * - The requester's rights are read again for each run and each step that makes files.
 */
export const importArchive = taskProcessor({
  kind: IMPORT,
  create: (services) => {
    const readers = new Readers();
    return (steps) => run(services, steps, readers);
  },
  undo: async ({ jobs }, { transaction }, uuid) => transaction((tx) => endStaging(jobs, tx, uuid)),
});

async function run(services: WorkerServices, steps: Steps, readers: Readers): Promise<void> {
  const { context, step } = steps;
  const { objects } = await context.storage();
  const begun = await step((tx, task) => begin(services, tx, task));
  const canceled = new AbortController();
  const watch = watchFor(context, begun.uuid, canceled);
  const signal = AbortSignal.any([context.signal, canceled.signal]);
  const its: Import = { ...begun, objects, blobs: new Blobs({ ...services, db: context.db, objects }), signal };
  try {
    if (begun.isToRead) await readers.run(() => read(services, steps, its));
    if (its.arguments.onConflict === 'replace') {
      const { keep, days } = its.arguments.versions;
      const versions = { keep, ...(days === null ? {} : { days }) };
      await new VersionSchedule({ ...services, db: context.db, settings: { versions } }).ensure();
    }
    for (let more = true; more;) {
      steps.yieldTurn();
      more = await publishNext(services, steps, its);
    }
  } catch (error) {
    throw await failureOf(steps, error, canceled.signal);
  } finally {
    clearInterval(watch);
  }
}

/** Archives that a worker reads at once: each has a process. More wait for their turn. */
class Readers {
  #running = 0;

  async run(work: () => Promise<void>): Promise<void> {
    if (this.#running >= READERS_MAX) throw new TryLater('other archives are being read', READERS_BUSY_MS);
    this.#running += 1;
    try {
      await work();
    } finally {
      this.#running -= 1;
    }
  }
}

/** Plans the entries, where they are not, and stores their contents. */
async function read(services: WorkerServices, steps: Steps, its: Import): Promise<void> {
  const { key, size } = its.arguments.archive;
  const readRange = (at: number, length: number): AsyncIterable<Buffer> => rangeOf(its.objects, key, at, length, its.signal);
  const reader = new ArchiveReader({ size, read: readRange, clock: services.clock, signal: its.signal });
  try {
    if (!its.isPlanned) await plan(services, steps, its, reader);
    for (let more = true; more;) {
      steps.yieldTurn();
      more = await storeNext(services, steps, its, reader);
    }
  } finally {
    reader.close();
  }
}

/** What is wrong with the archive ends the task; a reader that nobody knows why it ended is tried again. */
async function failureOf({ step }: Steps, error: unknown, canceled: AbortSignal): Promise<unknown> {
  if (canceled.aborted) return canceled.reason;
  if (error instanceof Refused) return refusal(error);
  if (!(error instanceof ReaderGone)) return error;
  const ends = await step((tx, task) => countEnds(tx, task.id));
  return ends < ENDS_MAX ? error : refusal(new Refused('cannot be read'));
}

const refusal = ({ message }: Refused): Problem => new Problem('archive_refused', `The archive ${message}.`);

function watchFor({ transaction }: JobContext, uuid: string, canceled: AbortController): NodeJS.Timeout {
  const look = async (): Promise<void> => {
    if (!(await transaction((tx) => isRunning(tx, uuid)))) canceled.abort(new TaskOver('the task has ended'));
  };
  return setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS).unref();
}

/** `isToRead`: entries are not planned, or not stored. */
type Begun = Omit<Import, 'objects' | 'blobs' | 'signal'> & { readonly isToRead: boolean };

/** Throws where the requester may no longer import this archive into this folder. */
async function begin(services: WorkerServices, tx: Tx, task: ImportTask): Promise<Begun> {
  const { actor, granted } = await importerOf(services, tx, task);
  const { archive, folder } = task.arguments;
  if (folder !== null) await openFolder(tx, actor, granted, folder, 'folder_id');
  if (archive.file !== null) {
    const file = await findFile(tx, archive.file);
    requireLevel(file && levelOn('file', actor, file, granted), 'read');
  }
  const { id, uuid, isPlanned } = task;
  const isToRead = !isPlanned || (await unstoredItems(tx, id, 1)).length > 0;
  return { id, uuid, userId: actor.userId, userUuid: actor.userUuid, arguments: task.arguments, isPlanned, isToRead };
}

const importerOf = (
  { clock }: WorkerServices,
  tx: Tx,
  task: ImportTask,
): Promise<{ readonly actor: Actor; readonly granted: PermissionSet }> =>
  requesterOf(tx, task, 'write:files', clock.now(), task.arguments.permissions);

async function* rangeOf(objects: Objects, key: string, at: number, length: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    const { body } = await objects.get(key, { range: { start: at, end: at + length - 1 }, signal });
    yield* body as AsyncIterable<Buffer>;
  } catch (error) {
    throw error instanceof ObjectMissing ? new Problem('not_found', 'The archive is not there any more.') : error;
  }
}

/** All entries become items, and the quota of all of their contents is reserved; from the beginning, where a former run did not come to the end. */
async function plan({ clock }: WorkerServices, { step }: Steps, its: Import, reader: ArchiveReader): Promise<void> {
  const { archive, encoding, maxBytes } = its.arguments;
  const planned = new Plan({ archiveBytes: archive.size, maxBytes });
  await step((tx, task) => clearItems(tx, task.id));
  let entries: PlannedEntry[] = [];
  const add = async (): Promise<void> => {
    const batch = entries;
    entries = [];
    if (batch.length > 0) await step((tx, task) => addEntries(tx, task.id, batch));
  };
  for await (const { entry, hasSlash } of reader.entries({ encoding, ...LIST_LIMITS })) {
    entries.push(planned.add(entry, hasSlash));
    if (entries.length === PLAN_STEP) await add();
  }
  await add();
  await step(async (tx, task) => {
    const now = clock.now();
    const bytes = planned.bytes + (archive.file === null ? archive.size : 0);
    const until = new Date(now.getTime() + STAGED_MS);
    await reserve(tx, { id: task.uuid, ownerId: its.userId, now, until }, { needed: bytes, wanted: bytes });
    await markPlanned(tx, task.id);
  });
}

/** Stores the contents of the next entries. False: all are stored. */
async function storeNext({ clock }: WorkerServices, { step }: Steps, its: Import, reader: ArchiveReader): Promise<boolean> {
  const items = upTo(STEP_BYTES, await step((tx, task) => unstoredItems(tx, task.id, STEP)));
  if (items.length === 0) return false;
  await its.blobs.discardUnlessCommitted(async (into) => {
    const staged = await storeAll(its, reader, items, into).catch((error: unknown) => failing(step, error));
    await step(async (tx, task) => {
      into.committing();
      const isThere = await stage(tx, task, staged, new Date(clock.now().getTime() + STAGED_MS));
      if (!isThere) throw new Problem('conflict', 'The import took too long; what it had stored has expired.');
    });
  });
  return true;
}

/** The first ones, one at least. */
function upTo(bytes: number, items: readonly ImportItem[]): ImportItem[] {
  let sum = 0;
  const end = items.findIndex(({ entry }, at) => (sum += entry.size) > bytes && at > 0);
  return items.slice(0, end === -1 ? items.length : end);
}

/** An entry by which its archive is refused. */
class EntryRefused extends Error {
  readonly item: ImportItem;
  readonly refused: Refused;

  constructor(item: ImportItem, refused: Refused) {
    super(refused.message);
    this.item = item;
    this.refused = refused;
  }
}

/** The items show which entry it was. */
async function failing(step: Steps['step'], error: unknown): Promise<never> {
  if (!(error instanceof EntryRefused)) throw error;
  const { code, message } = refusal(error.refused);
  await step((_tx, task) => task.end([{ id: error.item.id, code, message }]));
  throw error.refused;
}

/** The reader gives one content after the other; small ones are sent to the store while the next are read. */
async function storeAll(its: Import, reader: ArchiveReader, items: readonly ImportItem[], into: NewObjects): Promise<Staged[]> {
  const storing = new Set<Promise<void>>();
  const staged: Staged[] = [];
  const failed = new AbortController();
  const signal = AbortSignal.any([its.signal, failed.signal]);
  reader.request(items.map(({ name, entry }) => ({ ...entry, name })));
  try {
    for (const item of items) {
      failed.signal.throwIfAborted();
      if (storing.size >= STORED_AT_ONCE) await Promise.race(storing);
      const { promise: isRead, resolve: readToEnd } = Promise.withResolvers<void>();
      const stored = storeOne(its, reader, item, { into, signal, readToEnd }).then((content) => void staged.push(content));
      const ended = stored.catch((error: unknown) => failed.abort(error)).finally(() => storing.delete(ended));
      storing.add(ended);
      await Promise.race([isRead, ended]);
    }
  } finally {
    // All have ended before anything is deleted: none writes an object afterwards.
    await Promise.allSettled(storing);
  }
  failed.signal.throwIfAborted();
  return staged;
}

const EMPTY = { key: null, checksum: sha256('sha256', ''), isEncrypted: false };

async function storeOne(
  { blobs, uuid, userId, userUuid }: Import,
  reader: ArchiveReader,
  item: ImportItem,
  to: { readonly into: NewObjects; readonly signal: AbortSignal; readonly readToEnd: () => void },
): Promise<Staged> {
  const { id, entry, name } = item;
  const { into, signal } = to;
  const contentType = uploadType({ mimeType: UNKNOWN_TYPE }, entry.names.at(-1) ?? '');
  let refused: unknown;
  const content = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* reader.content({ ...entry, name });
    } catch (error) {
      refused = error;
      throw error;
    } finally {
      to.readToEnd();
    }
  };
  try {
    if (entry.size === 0) {
      for await (const _ of content()) continue;
      return { id, size: 0, ...EMPTY, mimeType: contentType };
    }
    const quota = { ownerId: userId, remainingBytes: Infinity, isOfTenant: false };
    const options = { into, quota, reservation: alreadyReserved(uuid), contentType, uploader: userUuid, signal };
    const source = Readable.from(content(), { objectMode: false });
    const { blob, mimeType } = await blobs.store(await blobs.newKey(), source, options);
    const { key, size, checksum, isEncrypted } = blob;
    return { id, size, key, checksum, isEncrypted, mimeType };
  } catch (error) {
    const cause = refused ?? error;
    throw cause instanceof Refused ? new EntryRefused(item, cause) : cause;
  }
}

/** Makes the next entries files and folders. False: the task has ended. */
async function publishNext(services: WorkerServices, { context, step }: Steps, its: Import): Promise<boolean> {
  const { objects, blobs } = its;
  return blobs.discardUnlessCommitted(async (into) => {
    const waiting = await step((tx, task) => storedItems(tx, task.id, STEP));
    const items: ImportItem[] = [];
    for (const item of waiting) items.push(await withObject(its, item, into));
    return step(async (tx, task) => {
      into.committing();
      if (items.length === 0) {
        await countSkipped(tx, task.id);
        await endStaging(services.jobs, tx, task.uuid);
        await task.succeed();
        return false;
      }
      const importer = await importerOf(services, tx, task).catch(problemOf);
      if (importer instanceof Problem) {
        await task.endRest(importer);
        return true;
      }
      await publish({ services, context, bucket: objects.bucket, tx, task, ...importer, items });
      return true;
    });
  });
}

/** What has no bytes gets its object as late as this, since a segment has some. */
async function withObject({ objects, blobs }: Import, item: ImportItem, into: NewObjects): Promise<ImportItem> {
  if (item.content === null || item.content.key !== null) return item;
  const key = await blobs.newKey();
  into.keys.push(key);
  const { isEncrypted } = await objects.put(key, Buffer.alloc(0), { contentType: item.content.mimeType });
  return { ...item, content: { ...item.content, key, isEncrypted } };
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

/** Its objects, but for those that versions name, are purged, and its quota is released. */
async function endStaging(jobs: WorkerServices['jobs'], tx: Tx, uuid: string): Promise<void> {
  const staging = await findStaging(tx, uuid);
  if (staging) await requestPurge(jobs, tx, await deleteUpload(tx, staging));
}
