import { Problem } from '../../api/problem.ts';
import { type JobContext, NextTurn, type WorkerServices } from '../../events/processor.ts';
import type { Clock } from '../../runtime/clock.ts';
import { holdYoungGeneration } from '../../runtime/young-generation.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { Objects } from '../../store/s3/objects.ts';
import { partBytesOf, UploadGone } from '../../store/s3/upload-in-parts.ts';
import { type HeldTask, taskProcessor, TaskOver, type TaskSteps } from '../../tasks/task-processor.ts';
import { TasksAtOnce } from '../../tasks/tasks-at-once.ts';
import { levelOn, type Resource } from '../model/access/inherited-access.policy.ts';
import { requesterOf } from '../model/access/requester.ts';
import { RenamedList } from '../archives/folder-entries.ts';
import type { PlannedArchive } from '../archives/planned-archive.ts';
import { ZipPlan } from '../archives/zip-plan.ts';
import { rankItems } from '../batch/batch.sql.ts';
import { listedFiles } from '../lists/file-list.sql.ts';
import { Blobs } from '../blobs/blobs.ts';
import { archiveName } from './archive-name.policy.ts';
import { EXPIRE_EXPORTS, EXPORT, type ExportArguments } from './export-task.ts';
import { deleteUpload, type ExportUpload, findUpload, insertUpload, readPlan } from './export-uploads.sql.ts';
import { EXPORT_LINK_MS, keepingOf, NOT_ENOUGH, pruneKept, remainingFor } from './kept-exports.ts';
import { foldersOf, insertExport, isRunning, queuedItems, writeResult } from './exports.sql.ts';
import { failGone, GONE, type GoneFile } from './gone-files.ts';
import { type Chosen, planExport } from './plan-export.ts';
import { CannotGoOn, PartSender } from './send-parts.ts';

/** Concurrent exports. Each holds its plan, and the small files that it is sending. */
const AT_ONCE = { atOnce: 4, reason: 'this worker makes as many exports as it may', askAgainMs: 2_000 };
const CHECK_EVERY_MS = 400;
const ABORT_AGAIN_MS = 500;

type Steps = TaskSteps<ExportArguments>;
type Task = HeldTask<ExportArguments>;

/** The state of one run of an export. */
interface Run extends WorkerServices {
  readonly steps: Steps;
  readonly context: JobContext;
  readonly objects: Objects;
  readonly signal: AbortSignal;
}

/** The archive that a run writes. */
interface Archive extends PlannedArchive {
  readonly upload: ExportUpload;
}

/** The start of a run: the upload that another run has begun, or the items to export. */
type Begun =
  | { readonly task: string; readonly upload: ExportUpload }
  | {
      readonly task: string;
      readonly upload: null;
      readonly name: string;
      readonly chosen: Chosen;
      /** The largest size that the archive may have. */
      readonly remainingBytes: number;
    };

/** An archive that is whole in the store. */
interface Made {
  readonly size: number;
  /** Hex SHA-256. */
  readonly checksum: string;
}

/**
 * Writes an archive of files and folders to the object store, part by part. Its memory is constant: it streams the bytes from the
 * store to the store.
 *
 * The archive is planned first, like that of a folder with a length: names, sizes and CRC-32 of its entries determine each byte.
 * A row (`export_uploads`) holds the plan, the parts in the store and the state of their SHA-256.
 *
 * Invariants:
 * - After a crash, or when its turn is over, it continues behind the last part whose row is committed. A part that is sent again
 *   has the same bytes.
 * - The requester must be able to read the exported items both when a run begins and when the archive is complete; otherwise
 *   there is no archive. An item that they may not read when the archive is planned fails.
 * - A canceled export stops within a second. If an export ends without an archive for any reason, its parts are deleted.
 * - One transaction writes the archive, its link, its items and the job that deletes it after its expiry; for a run of a
 *   schedule, also the expiry of the archives that it replaces.
 * - A file whose content is permanently deleted before its turn is left out, and its item fails. If a part of it is in the
 *   archive already, the export starts over. A file whose content the store has lost is also left out; if a part of it is in the
 *   archive already, the job fails.
 */
export const makeExport = taskProcessor({
  kind: EXPORT,
  create: (services) => {
    const atOnce = new TasksAtOnce(AT_ONCE, services.clock);
    return (steps) => atOnce.run(steps.context.slug, () => exportNow(services, steps));
  },
  undo: async ({ clock }, context, task) => {
    const upload = await findUpload(context.db, task);
    if (upload) await giveUp(clock, context, (await context.storage()).objects, upload);
  },
});

async function exportNow(services: WorkerServices, steps: Steps): Promise<void> {
  const { context, step } = steps;
  const { objects } = await context.storage();
  const begun = await step((tx, task) => begin(services, tx, task));
  if (begun === null) throw new Problem('not_found', 'These files and folders do not exist, or you may not read them.');
  const watch = watched(services.clock, context, begun.task);
  const run: Run = { ...services, steps, context, objects, signal: AbortSignal.any([context.signal, watch.signal]) };
  // The plan is packed and contents are sent immediately, so that most allocated memory is garbage.
  const letGrow = holdYoungGeneration();
  try {
    const archive = begun.upload ? await resumed(run, begun.upload) : await planned(run, begun);
    const made = await send(run, archive);
    await step((tx, task) => commit(services, tx, task, archive.upload, made));
  } catch (error) {
    if (watch.signal.aborted) throw new TaskOver('the export was canceled', { cause: error });
    throw error;
  } finally {
    letGrow();
    watch.stop();
  }
}

/** Returns null if there is nothing to export. Throws `forbidden` if the requester may no longer read what is being exported. */
async function begin(services: WorkerServices, tx: Tx, task: Task): Promise<Begun | null> {
  const upload = await findUpload(tx, task.uuid);
  if (!upload) return choose(services, tx, task);
  await requireReadable(tx, task, services.clock.now());
  return { task: task.uuid, upload };
}

async function resumed({ context }: Run, upload: ExportUpload): Promise<Archive> {
  const { plan, renamed } = await readPlan(context.db, upload.task);
  return { upload, plan: await ZipPlan.unpack(plan, upload.gone), renamed: RenamedList.unpack(renamed) };
}

/** Stores nothing before the plan is in its row, except an upload without parts. */
async function planned(run: Run, { task, name, chosen, remainingBytes }: Begun & { readonly upload: null }): Promise<Archive> {
  const { context, objects, steps, signal, log } = run;
  const gone: GoneFile[] = [];
  const foundCrc = (): void => steps.yieldTurn();
  const archive = await planExport({ db: context.db, objects, log, signal, foundCrc }, chosen, (file, why) =>
    gone.push({ ...file, why }),
  );
  const { plan, renamed } = archive;
  if (plan.bytes > remainingBytes) throw new Problem('quota_exceeded', NOT_ENOUGH);
  const key = await new Blobs({ ...run, db: context.db }).newKey();
  const uploadId = await objects.beginParts(key, 'application/zip');
  const upload: ExportUpload = {
    task,
    key,
    uploadId,
    name,
    partBytes: partBytesOf(plan.bytes),
    etags: [],
    sum: Buffer.alloc(0),
    gone: [],
  };
  try {
    await steps.step(async (tx, held) => {
      await insertUpload(tx, upload, { plan: plan.pack(), renamed: renamed.pack() });
      await failGone(tx, held, gone);
    });
  } catch (error) {
    // If the row was written after all, the next run finds it without its upload, and starts over.
    await objects
      .inParts(key, uploadId)
      .abort()
      .catch(() => undefined);
    throw error;
  }
  return { ...archive, upload };
}

/** Sends the parts that are not in the store yet. If the upload is gone or cannot continue, the export starts over. */
async function send({ steps, clock, context, objects, log, signal }: Run, archive: Archive): Promise<Made> {
  const { upload, plan } = archive;
  try {
    const sender = await PartSender.of({ steps, objects, log, archive, signal }, upload);
    do steps.yieldTurn();
    while (await sender.next());
    const checksum = sender.checksum();
    await complete(objects, upload, sender.etags, plan.bytes);
    return { size: plan.bytes, checksum };
  } catch (error) {
    if (!(error instanceof CannotGoOn || error instanceof UploadGone)) throw error;
    log.info({ err: error, task: upload.task }, 'an export starts over');
    await giveUp(clock, context, objects, upload);
    throw new NextTurn(error.message);
  }
}

/** The store forgets an upload once it is complete. */
async function complete(
  objects: Objects,
  { key, uploadId }: ExportUpload,
  etags: readonly string[],
  size: number,
): Promise<void> {
  try {
    await objects.inParts(key, uploadId).complete(etags);
  } catch (error) {
    if (error instanceof UploadGone && (await objects.head(key))?.size === size) return;
    throw error;
  }
}

/** Deletes its parts, or the archive that no row names, and then its row. */
async function giveUp(
  clock: Clock,
  { db, signal }: JobContext,
  objects: Objects,
  { task, key, uploadId }: ExportUpload,
): Promise<void> {
  const parts = objects.inParts(key, uploadId);
  await parts.abort();
  // A store may accept a part that was in flight, for example from a killed worker, after the upload was aborted (S3 API,
  // AbortMultipartUpload).
  await clock.sleep(ABORT_AGAIN_MS, signal);
  await parts.abort();
  await objects.delete([key]);
  await deleteUpload(db, task);
}

/** Ends the items that may not be read, and returns the others; null: there are none. */
async function choose({ clock }: WorkerServices, tx: Tx, task: Task): Promise<Begun | null> {
  const { items, nameOf, userId } = await readable(tx, task, clock.now());
  const named = items.map((item) => ({ ...item, name: nameOf(item.target) }));
  const there = named.filter((item) => item.name !== null);
  await rankItems(
    tx,
    task.id,
    there.map(({ id, name }) => ({ id, name: name ?? '', rank: 0 })),
  );
  await task.end(named.filter(({ name }) => name === null).map(({ id }) => ({ id, ...GONE })));
  if (there.length === 0) return null;
  const { schedule } = task.arguments;
  const remainingBytes =
    schedule === undefined ? Number.MAX_SAFE_INTEGER : await remainingFor(tx, { task: task.uuid, schedule, userId }, clock.now());
  const of = (type: 'file' | 'folder'): string[] =>
    there.flatMap(({ targetType, target }) => (targetType === type ? [target] : []));
  const name = task.arguments.name ?? (there.length === 1 ? (there[0]?.name ?? '') : 'export');
  return {
    upload: null,
    task: task.uuid,
    name: archiveName(name),
    chosen: { files: of('file'), folders: of('folder') },
    remainingBytes,
  };
}

/**
 * Returns the internal id of the requester. Items that no longer exist need no check: the requester could read them when they
 * were archived. Throws `forbidden`.
 */
async function requireReadable(tx: Tx, task: Task, now: Date): Promise<number> {
  const { items, present, nameOf, userId } = await readable(tx, task, now, { alsoTrashed: true });
  if (items.some(({ target }) => present.has(target) && nameOf(target) === null))
    throw new Problem('forbidden', 'You lost the right to read some of its content while the archive was being made.');
  return userId;
}

/**
 * Returns the items that have not ended, with the names of those that the requester may read; null for others. Throws
 * `forbidden`.
 */
async function readable(tx: Tx, task: Task, now: Date, { alsoTrashed = false } = {}) {
  const caller = await requesterOf(tx, task, 'read:files', now, task.arguments.permissions);
  const items = await queuedItems(tx, task.id);
  const uuids = (type: 'file' | 'folder') => items.flatMap(({ targetType, target }) => (targetType === type ? [target] : []));
  const names = new Map<string, string>();
  const add = (kind: 'file' | 'folder', found: Resource & { uuid: string; name: string; deletedAt: unknown }): void => {
    if ((alsoTrashed || found.deletedAt === null) && levelOn(kind, caller, found) !== null) names.set(found.uuid, found.name);
  };
  const [files, folders] = [await listedFiles(tx, uuids('file')), await foldersOf(tx, uuids('folder'))];
  for (const file of files) add('file', file);
  for (const folder of folders) add('folder', folder);
  const present = new Set([...files, ...folders].map(({ uuid }) => uuid));
  return {
    items,
    present,
    userId: caller.actor.userId,
    nameOf: (uuid: string): string | null => names.get(uuid) ?? null,
  };
}

async function commit(
  { clock, random, jobs }: WorkerServices,
  tx: Tx,
  task: Task,
  upload: ExportUpload,
  made: Made,
): Promise<void> {
  const now = clock.now();
  const userId = await requireReadable(tx, task, now);
  const items = await queuedItems(tx, task.id);
  await task.end(items.map(({ id }) => ({ id, code: null })));
  const { size, checksum } = made;
  const { name, key } = upload;
  const token = random.hex(32);
  const { schedule = null } = task.arguments;
  const { expiresAt, keep } =
    schedule === null
      ? { expiresAt: new Date(now.getTime() + EXPORT_LINK_MS), keep: null }
      : await keepingOf(tx, { task: task.uuid, schedule, userId }, { size, now });
  await insertExport(tx, { uuid: task.uuid, userId, token, name, key, size, checksum, expiresAt, schedule });
  await deleteUpload(tx, task.uuid);
  await writeResult(tx, task.id, {
    url: `${task.arguments.apiUrl}/tickets/${token}`,
    expires_at: expiresAt?.toISOString() ?? null,
    size,
    sha256: checksum,
  });
  if (expiresAt !== null) await jobs.schedule(tx, EXPIRE_EXPORTS, {}, expiresAt);
  if (schedule !== null && keep !== null) await pruneKept(jobs, tx, schedule, keep, now);
  await task.succeed();
}

/** `signal` is aborted soon after the task has ended for any reason. */
function watched(clock: Clock, { db }: JobContext, task: string): { readonly signal: AbortSignal; stop(): void } {
  const [over, ended] = [new AbortController(), new AbortController()];
  const check = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await clock.sleep(CHECK_EVERY_MS, ended.signal);
      // A store that does not answer says nothing about the task.
      if (!(await isRunning(db, task).catch(() => true))) over.abort(new TaskOver('the task has ended'));
    }
  };
  check().catch(() => undefined);
  return { signal: over.signal, stop: () => ended.abort() };
}
