import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Problem } from '../../api/problem.ts';
import { type JobContext, TryLater, type WorkerServices } from '../../events/processor.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { Objects } from '../../store/s3/objects.ts';
import { type HeldTask, taskProcessor, TaskOver, type TaskSteps } from '../../tasks/task-processor.ts';
import { levelOn, type Resource } from '../access/inherited-access.policy.ts';
import { requesterOf } from '../access/requester.ts';
import { type ArchivedFile, theseFiles, theseFolders } from '../archives/archive.sql.ts';
import { ArchiveContents } from '../archives/archive-contents.ts';
import { entriesOf, RenamedList } from '../archives/folder-entries.ts';
import { writeZip } from '../archives/zip-writer.ts';
import { addItems, rankItems } from '../batch/batch.sql.ts';
import { listedFiles } from '../files/file-list.sql.ts';
import { Blobs, type NewObjects } from '../uploads/blobs.ts';
import { EXPIRE_EXPORTS, EXPORT, type ExportArguments } from './export-task.ts';
import { keepingOf, NOT_ENOUGH, pruneKept, remainingFor } from './kept-exports.ts';
import { foldersOf, insertExport, isRunning, queuedItems, writeResult } from './exports.sql.ts';

/** Of one worker: each holds up to three parts of 8 MiB, and its directory. */
const EXPORTS_AT_ONCE = 4;
const WAIT_MS = 2_000;
/** What the entries of one archive hold, packed: some 100,000 files with long names, many more with short ones. */
const HOLDS_BYTES = 16 << 20;
/** How long the link is valid. */
export const EXPORT_LINK_MS = 24 * 60 * 60 * 1000;
const LOOK_EVERY_MS = 400;
const NAME_MAX = 255;

type Steps = TaskSteps<ExportArguments>;
type Task = HeldTask<ExportArguments>;

/** What is exported, and for whom. */
interface Chosen {
  /** The uuid of the task. */
  readonly task: string;
  readonly userUuid: string;
  /** Of the archive. */
  readonly name: string;
  /** uuids */
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** How large the archive may be. */
  readonly remainingBytes: number;
}

/** An archive that no row names yet. */
interface Made {
  readonly key: string;
  readonly size: number;
  readonly checksum: string;
  readonly gone: readonly ArchivedFile[];
}

/**
 * Writes an archive of files and folders into the object store, as it is read, with flat memory: there is one way from the store into it.
 *
 * Invariants:
 * - The requester reads what is exported when it begins and when it ends; else there is no archive. What they may not read fails as an item.
 * - A killed worker's export begins anew, under another key. What was sent of the first is in no row, and is deleted by the sweep of its day.
 * - A canceled export stops within a second, and leaves nothing.
 * - Archive, link, items and the job that deletes the archive once it has expired are one transaction; of a run of a schedule also what becomes of the
 *   archives that it replaces.
 * - A file that is deleted for ever before its turn is a failed item; one that cannot be read has the job tried again.
 */
export const makeExport = taskProcessor({
  kind: EXPORT,
  create: (services) => {
    let running = 0;
    return async (steps) => {
      if (running >= EXPORTS_AT_ONCE) throw new TryLater('this worker makes as many exports as it may', WAIT_MS);
      running += 1;
      try {
        await exportNow(services, steps);
      } finally {
        running -= 1;
      }
    };
  },
});

async function exportNow(services: WorkerServices, steps: Steps): Promise<void> {
  const { context, step } = steps;
  const { objects } = await context.storage();
  const chosen = await step((tx, task) => choose(services, tx, task));
  if (chosen === null) throw new Problem('not_found', 'Nothing of it is there, or you may not read it.');
  const blobs = new Blobs({ ...services, db: context.db, objects });
  const watch = watched(services.clock, context, chosen.task);
  try {
    await blobs.discardUnlessCommitted(async (into) => {
      const made = await store({ ...services, objects, context }, blobs, into, chosen, AbortSignal.any([context.signal, watch.signal]));
      await step((tx, task) => {
        into.committing();
        return commit(services, tx, task, chosen, made);
      });
    });
  } catch (error) {
    if (watch.signal.aborted) throw new TaskOver('the export was canceled', { cause: error });
    throw error;
  } finally {
    watch.stop();
  }
}

/** What of the items may be read; the others have ended. Null: nothing. */
async function choose({ clock }: WorkerServices, tx: Tx, task: Task): Promise<Chosen | null> {
  const { items, nameOf, userUuid, userId } = await readable(tx, task, clock.now());
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
  const of = (type: 'file' | 'folder'): string[] => there.flatMap(({ targetType, target }) => (targetType === type ? [target] : []));
  const name = there.length === 1 ? (there[0]?.name ?? '') : 'export';
  return {
    task: task.uuid,
    userUuid,
    name: `${name.slice(0, NAME_MAX - 4)}.zip`,
    files: of('file'),
    folders: of('folder'),
    remainingBytes,
  };
}

/** The items that have not ended, with the names of those that the requester may read: null for others. Throws `forbidden`. */
async function readable(tx: Tx, task: Task, now: Date, { alsoTrashed = false } = {}) {
  const { actor, granted } = await requesterOf(tx, task, 'read:files', now, task.arguments.permissions);
  const items = await queuedItems(tx, task.id);
  const uuids = (type: 'file' | 'folder') => items.flatMap(({ targetType, target }) => (targetType === type ? [target] : []));
  const names = new Map<string, string>();
  const add = (kind: 'file' | 'folder', found: Resource & { uuid: string; name: string; deletedAt: unknown }): void => {
    if ((alsoTrashed || found.deletedAt === null) && levelOn(kind, actor, found, granted) !== null) names.set(found.uuid, found.name);
  };
  const [files, folders] = [await listedFiles(tx, uuids('file')), await foldersOf(tx, uuids('folder'))];
  for (const file of files) add('file', file);
  for (const folder of folders) add('folder', folder);
  const present = new Set([...files, ...folders].map(({ uuid }) => uuid));
  return {
    items,
    present,
    userUuid: actor.userUuid,
    userId: actor.userId,
    nameOf: (uuid: string): string | null => names.get(uuid) ?? null,
  };
}

async function store(
  { objects, context, log }: { objects: Objects; context: JobContext; log: WorkerServices['log'] },
  blobs: Blobs,
  into: NewObjects,
  chosen: Chosen,
  signal: AbortSignal,
): Promise<Made> {
  const gone: ArchivedFile[] = [];
  const renamed = new RenamedList();
  const top = { files: theseFiles(context.db, chosen.files), folders: theseFolders(context.db, chosen.folders) };
  const contents = new ArchiveContents({ db: context.db, objects, log });
  const entries = contents.of(entriesOf(context.db, top, renamed), signal, (file) => gone.push(file));
  const hash = createHash('sha256');
  let sent = 0;
  const bytes = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of writeZip(entries, hold)) {
      sent += chunk.length;
      if (sent > chosen.remainingBytes) throw new Problem('quota_exceeded', NOT_ENOUGH);
      hash.update(chunk);
      yield chunk;
    }
  };
  const hold = (held: number): void => {
    if (held + renamed.heldBytes > HOLDS_BYTES)
      throw new Problem('archive_too_large', 'There are too many files and folders for one archive. Export the folders one by one.');
  };
  const key = await blobs.newKey();
  into.keys.push(key);
  const body = Readable.from(bytes(), { objectMode: false });
  const { size } = await objects.put(key, body, { contentType: 'application/zip', signal, owner: chosen.userUuid });
  return { key, size, checksum: hash.digest('hex'), gone };
}

async function commit({ clock, random, jobs }: WorkerServices, tx: Tx, task: Task, chosen: Chosen, made: Made): Promise<void> {
  const now = clock.now();
  const before = await readable(tx, task, now, { alsoTrashed: true });
  // What is no more was theirs to read when it was read.
  if (before.items.some(({ target }) => before.present.has(target) && before.nameOf(target) === null))
    throw new Problem('forbidden', 'While the archive was made you lost the right to read something of it.');
  const gone = new Set(made.gone.map(({ uuid }) => uuid));
  await addItems(
    tx,
    task.id,
    made.gone.map(({ uuid, name }) => ({ type: 'file', id: uuid, name, rank: 0 })),
  );
  const items = await queuedItems(tx, task.id);
  await task.end(items.map(({ id, target }) => (gone.has(target) ? { id, ...GONE } : { id, code: null })));
  const { key, size, checksum } = made;
  const token = random.hex(32);
  const { schedule = null } = task.arguments;
  const { expiresAt, keep } =
    schedule === null
      ? { expiresAt: new Date(now.getTime() + EXPORT_LINK_MS), keep: null }
      : await keepingOf(tx, { task: task.uuid, schedule, userId: before.userId }, { size, now });
  await insertExport(tx, { uuid: task.uuid, userId: before.userId, token, name: chosen.name, key, size, checksum, expiresAt, schedule });
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

/** `signal` is aborted soon after the task has ended, by whomever. */
function watched(clock: Clock, { db }: JobContext, task: string): { readonly signal: AbortSignal; stop(): void } {
  const [over, ended] = [new AbortController(), new AbortController()];
  const look = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, ended.signal);
      // A store that does not answer says nothing about the task.
      if (!(await isRunning(db, task).catch(() => true))) over.abort(new TaskOver('the task has ended'));
    }
  };
  look().catch(() => undefined);
  return { signal: over.signal, stop: () => ended.abort() };
}

const GONE = { code: 'not_found', message: 'It is not there any more, or you may not read it.' } as const;
