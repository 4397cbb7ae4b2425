import { Problem } from '../../api/problem.ts';
import { type JobContext, type WorkerServices } from '../../events/processor.ts';
import { holdYoungGeneration } from '../../runtime/young-generation.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { statusOf } from '../../store/s3/errors.ts';
import { ObjectMissing, type Objects } from '../../store/s3/objects.ts';
import { TaskOver, taskProcessor, type TaskSteps } from '../../tasks/task-processor.ts';
import { TasksAtOnce } from '../../tasks/tasks-at-once.ts';
import type { Caller } from '../model/access/caller.ts';
import { levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { requesterOf } from '../model/access/requester.ts';
import { findFile } from '../model/files/files.sql.ts';
import { type FolderRecord, openFolder } from '../model/folders/folders.sql.ts';
import { requestPurge } from '../blobs/objects.jobs.ts';
import { deleteUpload } from '../uploads/partial/partial-uploads.sql.ts';
import { Blobs, type NewObjects } from '../blobs/blobs.ts';
import { reserve } from '../blobs/quota-reservation.sql.ts';
import { VersionSchedule } from '../model/files/version-schedule.ts';
import { ArchiveReader, ReaderGone } from './archive-reader.ts';
import { Refused } from './archive-entry.ts';
import { IMPORT, type ImportArguments } from './import-task.ts';
import {
  addEntries,
  clearItems,
  type Contents,
  contentsOf,
  countReaderEnd,
  countSkipped,
  findStaging,
  resetReaderEnds,
  type ImportItem,
  isRunning,
  markPlanned,
  showContents,
  stage,
  STAGED_MS,
  storedItems,
  unstoredItems,
} from './imports.sql.ts';
import { LIST_LIMITS, Plan, type PlannedEntry } from './plan.policy.ts';
import { type ImportTask, publish } from './publish.ts';
import { Reading } from './reading.ts';
import { StepSize, withFewFolders } from './step-size.ts';
import { EntryRefused, storeAll } from './store-contents.ts';
import { MIB } from '../../runtime/bytes.ts';

/** Each reader is a process of 192 MiB at most. */
const READERS = { atOnce: 2, reason: 'other archives are being read', askAgainMs: 1_000 };
/** The number of contents that one step stores: a crash costs no more work than that. */
const STEP = 100;
const PLAN_STEP = 1_000;
/** The bytes of a step's contents, if there is more than one. */
const STEP_BYTES = 32 * MIB;
/** A cancellation is noticed within this time, also within a large content. */
const CHECK_EVERY_MS = 400;
/** How often a reader that ends for no known reason is restarted without progress; then the archive is refused. */
const ENDS_MAX = 3;
const CHANGED = 'was changed while it was read';
const RANGE_NOT_SATISFIABLE = 416;

type Steps = TaskSteps<ImportArguments>;

/** The archive of a running task, and the user who imports it. */
interface Import {
  readonly id: number;
  readonly uuid: string;
  readonly userId: number;
  readonly userUuid: string;
  readonly arguments: ImportArguments;
  readonly objects: Objects;
  readonly blobs: Blobs;
  readonly isPlanned: boolean;
  readonly reading: Reading;
  readonly signal: AbortSignal;
}

/**
 * Imports files and folders from a ZIP archive: plans its entries, stores their contents, and makes files of them once all are
 * stored.
 *
 * Invariants:
 * - Nothing is stored before all limits have been checked and the quota is reserved, and nothing is visible before all contents
 *   are stored and right. A refused archive leaves nothing: its contents, which only the task names, are purged in the
 *   transaction that deletes their rows, also after a cancellation.
 * - One transaction writes an entry and its state, or a content and its entry: after a crash the task continues with what was
 *   not committed.
 * - The archive is parsed and inflated by a process that holds no secrets (`ArchiveReader`); bytes flow from the store through
 *   it to the store.
 * - The requester's rights are read again for each run and each step that makes files.
 */
export const importArchive = taskProcessor({
  kind: IMPORT,
  create: (services) => {
    const readers = new TasksAtOnce(READERS, services.clock);
    return (steps) => run(services, steps, readers);
  },
  undo: async ({ jobs }, { transaction }, uuid) => transaction((tx) => endStaging(jobs, tx, uuid)),
});

async function run(services: WorkerServices, steps: Steps, readers: TasksAtOnce): Promise<void> {
  const { context, step } = steps;
  const { objects } = await context.storage();
  const begun = await step((tx, task) => begin(services, tx, task));
  const canceled = new AbortController();
  const reading = new Reading(begun.id);
  const watch = watchFor(context, begun.uuid, reading, canceled);
  const signal = AbortSignal.any([context.signal, canceled.signal]);
  const its: Import = { ...begun, objects, blobs: new Blobs({ ...services, db: context.db, objects }), reading, signal };
  // Contents become garbage as soon as they are stored, and the rows of a step when it ends.
  const letGrow = holdYoungGeneration();
  try {
    if (begun.isToRead) await readers.run(context.slug, () => read(services, steps, its));
    if (its.arguments.onConflict === 'replace') {
      const { keep, days } = its.arguments.versions;
      const versions = { keep, ...(days === null ? {} : { days }) };
      await new VersionSchedule({ ...services, db: context.db, settings: { versions } }).ensure();
    }
    const size = new StepSize();
    for (let more = true; more;) {
      steps.yieldTurn();
      const since = services.clock.monotonic();
      more = await publishNext(services, steps, its, size.entries);
      size.took(services.clock.monotonic() - since);
    }
  } catch (error) {
    throw await failureOf(steps, error, canceled.signal);
  } finally {
    letGrow();
    clearInterval(watch);
  }
}

/** Plans the entries if they are not planned, and stores their contents. */
async function read(services: WorkerServices, steps: Steps, its: Import): Promise<void> {
  const { key, size } = its.arguments.archive;
  const readRange = (at: number, length: number): AsyncIterable<Buffer> => rangeOf(its.objects, key, at, length, its.signal);
  const reader = new ArchiveReader({ size, read: readRange, clock: services.clock, signal: its.signal });
  try {
    if (!its.isPlanned) await plan(steps, its, reader);
    its.reading.begin(await steps.step((tx, task) => beginReading(services, tx, task, its.userId)));
    for (let more = true; more;) {
      steps.yieldTurn();
      more = await storeNext(services, steps, its, reader);
    }
  } finally {
    reader.close();
  }
}

/** Returns the failure of a task whose archive is at fault; a reader that ended for an unknown reason is tried again. */
async function failureOf({ step }: Steps, error: unknown, canceled: AbortSignal): Promise<unknown> {
  if (canceled.aborted) return canceled.reason;
  if (error instanceof Refused) return refusal(error);
  if (!(error instanceof ReaderGone)) return error;
  const ends = await step((tx, task) => countReaderEnd(tx, task.id));
  return ends < ENDS_MAX ? error : refusal(new Refused('cannot be read'));
}

const refusal = ({ message }: Refused): Problem => new Problem('archive_refused', `The archive ${message}.`);

function watchFor({ transaction }: JobContext, uuid: string, reading: Reading, canceled: AbortController): NodeJS.Timeout {
  const check = async (): Promise<void> => {
    if (!(await transaction((tx) => isRunning(tx, uuid)))) canceled.abort(new TaskOver('the task has ended'));
    else if (reading.isAhead) await transaction((tx) => reading.show(tx));
  };
  return setInterval(() => void check().catch(() => undefined), CHECK_EVERY_MS).unref();
}

/** `isToRead`: some entries are not planned or not stored. */
type Begun = Omit<Import, 'objects' | 'blobs' | 'reading' | 'signal'> & { readonly isToRead: boolean };

/** Throws if the requester may no longer import this archive into this folder. */
async function begin(services: WorkerServices, tx: Tx, task: ImportTask): Promise<Begun> {
  const { id, uuid, userId, isPlanned } = task;
  const { archive } = task.arguments;
  const its = { id, uuid, arguments: task.arguments, isPlanned };
  // An import with all of its contents continues: each step that makes files checks by itself, and the items that are left
  // fail.
  if (isPlanned && (await unstoredItems(tx, id, 1)).length === 0)
    return { ...its, userId: userId ?? 0, userUuid: '', isToRead: false };
  const caller = await importerIntoTarget(services, tx, task);
  if (archive.file !== null) {
    const file = await findFile(tx, archive.file);
    requireLevel(file && levelOn('file', caller, file), 'read');
  }
  return { ...its, userId: caller.actor.userId, userUuid: caller.actor.userUuid, isToRead: true };
}

interface Importer extends Caller {
  /** Null: the requester's root. */
  readonly target: FolderRecord | null;
}

const importerOf = ({ clock }: WorkerServices, tx: Tx, task: ImportTask): Promise<Caller> =>
  requesterOf(tx, task, 'write:files', clock.now(), task.arguments.permissions);

/** Returns the folder that the requester may still import into, and the requester. Throws the reason if they may not. */
async function importerIntoTarget(services: WorkerServices, tx: Tx, task: ImportTask): Promise<Importer> {
  const caller = await importerOf(services, tx, task);
  const { folder } = task.arguments;
  return { ...caller, target: folder === null ? null : await openFolder(tx, caller, folder, 'folder_id') };
}

async function* rangeOf(objects: Objects, key: string, at: number, length: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    const found = await objects.get(key, { range: { start: at, end: at + length - 1 }, signal });
    // Carrel changes no object: the tenant did, with the store's own credentials. Another attempt would find the same.
    if (found.length !== length) throw new Refused(CHANGED);
    yield* found.body as AsyncIterable<Buffer>;
  } catch (error) {
    if (error instanceof ObjectMissing) throw new Problem('not_found', 'The archive no longer exists.');
    throw statusOf(error) === RANGE_NOT_SATISFIABLE ? new Refused(CHANGED) : error;
  }
}

/** Makes all entries items; starts from the beginning if an earlier run did not reach the end. */
async function plan({ step }: Steps, its: Import, reader: ArchiveReader): Promise<void> {
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
  await step((tx, task) => markPlanned(tx, task.id));
}

/**
 * Reserves the quota of all contents that are not files yet, in place of what is reserved, so that it is as much however often
 * this runs; and shows how much of them is stored.
 */
async function beginReading({ clock }: WorkerServices, tx: Tx, task: ImportTask, userId: number): Promise<Contents> {
  const { archive } = task.arguments;
  const contents = await contentsOf(tx, task.id);
  await showContents(tx, task.id, contents);
  const now = clock.now();
  const bytes = contents.total_bytes + (archive.file === null ? archive.size : 0);
  const until = new Date(now.getTime() + STAGED_MS);
  await reserve(tx, { id: task.uuid, ownerId: userId, now, until }, { needed: bytes, wanted: bytes });
  return contents;
}

/** Stores the contents of the next entries. Returns false if all are stored. */
async function storeNext({ clock }: WorkerServices, { step }: Steps, its: Import, reader: ArchiveReader): Promise<boolean> {
  const items = upTo(STEP_BYTES, await step((tx, task) => unstoredItems(tx, task.id, STEP)));
  if (items.length === 0) return false;
  await its.blobs.discardUnlessCommitted(async (into) => {
    const staged = await storeAll(its, reader, items, into).catch((error: unknown) => failing(step, error));
    const after = its.reading.after(staged);
    await step(async (tx, task) => {
      into.committing();
      const isThere = await stage(tx, task, staged, new Date(clock.now().getTime() + STAGED_MS));
      if (!isThere) throw new Problem('conflict', 'The import took too long; what it had stored has expired.');
      await showContents(tx, task.id, after);
      await resetReaderEnds(tx, task.id);
    });
    its.reading.stored(after);
  });
  return true;
}

/** Returns the first ones, at least one. */
function upTo(bytes: number, items: readonly ImportItem[]): ImportItem[] {
  let sum = 0;
  const end = items.findIndex(({ entry }, at) => (sum += entry.size) > bytes && at > 0);
  return items.slice(0, end === -1 ? items.length : end);
}

/** Rethrows the error of a step; the items show which entry failed. */
async function failing(step: Steps['step'], error: unknown): Promise<never> {
  if (!(error instanceof EntryRefused)) throw error;
  const { code, message } = refusal(error.refused);
  await step((_tx, task) => task.end([{ id: error.item.id, code, message }]));
  throw error.refused;
}

/** Makes the next entries files and folders. Returns false if the task has ended. */
async function publishNext(services: WorkerServices, { context, step }: Steps, its: Import, most: number): Promise<boolean> {
  const { objects, blobs } = its;
  return blobs.discardUnlessCommitted(async (into) => {
    const waiting = withFewFolders(await step((tx, task) => storedItems(tx, task.id, most)));
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
      const importer = await importerIntoTarget(services, tx, task).catch(problemOf);
      if (importer instanceof Problem) {
        await task.endRest(importer);
        await requestPurge(services.jobs, tx, into.keys);
        return true;
      }
      await publish({ services, context, bucket: objects.bucket, tx, task, ...importer, items });
      return true;
    });
  });
}

/** Makes the object of an empty file only now, since a segment has at least one byte. */
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

/** Purges the objects of an import, except those that versions name, and releases its quota. */
async function endStaging(jobs: WorkerServices['jobs'], tx: Tx, uuid: string): Promise<void> {
  const staging = await findStaging(tx, uuid);
  if (staging) await requestPurge(jobs, tx, await deleteUpload(tx, staging));
}
