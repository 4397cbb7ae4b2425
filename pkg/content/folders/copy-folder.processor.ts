import { Problem } from '../../api/problem.ts';
import type { JobContext, WorkerServices } from '../../events/processor.ts';
import { LimitReached } from '../../store/postgres/errors.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { ObjectMissing } from '../../store/s3/objects.ts';
import { type HeldTask, taskProcessor, type TaskSteps } from '../../tasks/task-processor.ts';
import { type ItemEnd, planTo, type TaskItem } from '../../tasks/task-steps.sql.ts';
import { levelOn, requireLevel } from '../access/inherited-access.policy.ts';
import { requesterOf } from '../access/requester.ts';
import { Blobs, type NewObjects } from '../uploads/blobs.ts';
import { releaseReservation, reserveFitting } from '../uploads/quota-reservation.sql.ts';
import { alreadyReserved } from '../uploads/upload.ts';
import { UNKNOWN_TYPE } from '../uploads/uploads.schema.ts';
import { countBytes } from '../uploads/uploads.sql.ts';
import { COPY_FOLDER } from './copy-folder-task.ts';
import {
  type Conditions,
  type CopiedBlob,
  type CopiedTree,
  copyFiles,
  copyFolders,
  holdFolders,
  type Made,
  planFiles,
  planFolders,
  type SourceFile,
  sourceFiles,
} from './copy-folder.sql.ts';
import { findFolder } from './folders.sql.ts';

/** Of a step: 100 contents are copied between two transactions, so a crash costs no more. */
const STEP = { files: 100, folders: 1_000 };
/** The contents of a step, where it is more than one. */
const STEP_BYTES = 2 * 1024 ** 3;
/** Contents that the store copies at once for one task. */
const COPIES_AT_ONCE = 8;

type Arguments = { readonly source: string; readonly copy: string };
type Task = HeldTask<Arguments>;
type Steps = TaskSteps<Arguments>;

/** Who copies what, as it is now. */
interface Copier {
  /** The uuid of the task, also that of its reservation. */
  readonly task: string;
  readonly userId: number;
  readonly userUuid: string;
  readonly tree: CopiedTree;
}

type CopyableFile = SourceFile & { readonly key: string };

/** Files of a step whose quota is reserved. */
interface Batch {
  readonly copier: Copier;
  readonly files: readonly CopyableFile[];
}

/**
 * Copies what is live in a folder: first its folders, the highest first, then its files, whose contents the store copies between two transactions.
 *
 * Invariants:
 * - The copier reads the folder and writes the copy at each step, before and after contents are copied; what they may no longer do fails, item by item.
 * - The copier's quota is never exceeded: contents are reserved before they are copied, and counted in the transaction that makes them files. What does
 *   not fit is a failed item, and a smaller one behind it is copied.
 * - An item's folder or file, its metadata, event, quota and state are one transaction. Contents that no file was made of are deleted, after a crash by the sweep.
 * - Where the copier or the tenant has as many files and folders as they may have, what is left fails.
 * - What comes to the folder after its items were found is not copied, and neither is the copy itself, wherever it is.
 */
export const copyFolder = taskProcessor({
  kind: COPY_FOLDER,
  create: (services) => async (steps) => {
    try {
      for (let more = true; more;) {
        steps.yieldTurn();
        const batch = await steps.step((tx, task) => next(services, tx, task));
        if (batch === 'more') continue;
        if (batch === 'ended') more = false;
        else await copyBatch(services, steps, batch);
      }
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      await steps.step(async (_tx, task) => {
        await task.endRest({ code: 'quota_exceeded', message: error.message });
        await task.succeed();
      });
    }
  },
});

/** A step without contents; or the files whose contents are to be copied next. */
async function next({ clock }: WorkerServices, tx: Tx, task: Task): Promise<Batch | 'more' | 'ended'> {
  const now = clock.now();
  const copier = await copierOf(tx, task, now);
  if (copier instanceof Problem) {
    if (!task.isPlanned) throw copier;
    await task.endRest({ code: copier.code, message: copier.message });
    await task.succeed();
    return 'ended';
  }
  if (!task.isPlanned) {
    if (task.cursor === null) await planFolders(tx, task, copier.tree);
    await planTo(tx, task.id, await planFiles(tx, task, copier.tree, typeof task.cursor === 'number' ? task.cursor : 0));
    return 'more';
  }
  const items = await task.next(STEP);
  const [first] = items;
  if (!first) {
    await task.succeed();
    return 'ended';
  }
  if (first.targetType === 'file') return reserved(tx, task, copier, items, now);
  await holdFolders(tx, parentsOf(items));
  const made = await copyFolders(tx, task.id, idsOf(items), copier.tree);
  await task.end(made.map(endOf));
  return 'more';
}

/** Four statements. A Problem: they may not, or one of the two folders is not there. */
async function copierOf(tx: Tx, task: Task, now: Date): Promise<Copier | Problem> {
  try {
    const { actor, granted } = await requesterOf(tx, task, 'write:files', now);
    const [source, copy] = [await findFolder(tx, task.arguments.source), await findFolder(tx, task.arguments.copy)];
    if (!source) throw new Problem('not_found', 'The folder is not there any more.');
    if (!copy) throw new Problem('not_found', 'The folder of the copy is not there any more.');
    requireLevel(levelOn('folder', actor, source, granted), 'read');
    requireLevel(levelOn('folder', actor, copy, granted), 'write');
    return { userId: actor.userId, userUuid: actor.userUuid, task: task.uuid, tree: { source, copy } };
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The files of which contents can be copied, with as much quota reserved; those that cannot have ended. */
async function reserved(tx: Tx, task: Task, copier: Copier, items: readonly TaskItem[], now: Date): Promise<Batch | 'more'> {
  const found = await sourceFiles(tx, task.id, idsOf(items), copier.tree);
  const there = upTo(
    STEP_BYTES,
    found.filter((file): file is CopyableFile => file.key !== null && file.hasFolder),
  );
  const counted = there.map((file) => ({ file, size: file.size + file.metadataBytes }));
  const files = (await reserveFitting(tx, { id: task.uuid, ownerId: copier.userId, now }, counted)).map(({ file }) => file);
  const fitting = new Set(files);
  await task.end([
    ...found
      .filter(({ key, hasFolder }) => key === null || !hasFolder)
      .map(({ id, key, hasFolder }) => ({ id, ...faultOf({ isThere: key !== null, hasFolder, fits: true }) })),
    ...there.filter((file) => !fitting.has(file)).map(({ id }) => ({ id, ...OVER_QUOTA })),
  ]);
  if (files.length === 0) return 'more';
  return { copier, files };
}

/** The first ones, one at least. */
function upTo<T extends { readonly size: number }>(bytes: number, files: readonly T[]): T[] {
  let sum = 0;
  return files.filter(({ size }, at) => (sum += size) <= bytes || at === 0);
}

/** Has the contents copied, and makes files of them. */
async function copyBatch(services: WorkerServices, { context, step }: Steps, { copier, files }: Batch): Promise<void> {
  const { objects } = await context.storage();
  const blobs = new Blobs({ ...services, db: context.db, objects });
  const contents: Content[] = [];
  for (const file of files) contents.push({ ...file, from: file.key, key: await blobs.newKey() });
  try {
    await blobs.discardUnlessCommitted(async (into) => {
      const copied = await copyContents(blobs, into, context.signal, copier, contents);
      const used = await step((tx, task) => {
        into.committing();
        return commit({ ...services, cache: context.cache }, tx, task, objects.bucket, contents, copied);
      });
      await blobs.discard(contents.filter(({ id }) => !used.has(id)).map(({ key }) => key));
    });
  } catch (error) {
    await context.transaction((tx) => releaseReservation(tx, copier.task)).catch(() => undefined); // else it expires
    // The reservation had expired, and others have taken the quota: what fits is looked for again.
    if (!(error instanceof Problem && error.code === 'quota_exceeded')) throw error;
  }
}

/** A content before it is copied. */
type Content = Omit<CopiedBlob, 'isEncrypted'> & Pick<SourceFile, 'copyIn'> & { readonly from: string };
type Copied = ReadonlyMap<number, { readonly isEncrypted: boolean } | null>;

/** Gives what the store says of the copies, by their items; null: the content is gone. */
async function copyContents(
  blobs: Blobs,
  into: NewObjects,
  signal: AbortSignal,
  { task, userId, userUuid: uploader }: Copier,
  contents: readonly Content[],
): Promise<Copied> {
  const quota = { ownerId: userId, remainingBytes: Infinity, isOfTenant: false };
  const reservation = alreadyReserved(task);
  const copied = new Map<number, { readonly isEncrypted: boolean } | null>();
  const queue = contents.values();
  const copyNext = async (): Promise<void> => {
    for (const { id, from, size, checksum, crc32, key, mimeType } of queue) {
      signal.throwIfAborted();
      try {
        const options = { into, quota, reservation, uploader, contentType: mimeType ?? UNKNOWN_TYPE, signal };
        copied.set(id, await blobs.copy(key, { key: from, size, checksum, crc32 }, options));
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error;
        copied.set(id, null);
      }
    }
  };
  // All have ended before anything is deleted: none writes an object afterwards.
  const ended = await Promise.allSettled(Array.from({ length: COPIES_AT_ONCE }, copyNext));
  const failure = ended.find((one) => one.status === 'rejected');
  if (failure) throw failure.reason;
  return copied;
}

/** Makes files of contents; gives the items of those that were made. */
async function commit(
  { clock, events, cache }: Pick<WorkerServices & JobContext, 'clock' | 'events' | 'cache'>,
  tx: Tx,
  task: Task,
  bucket: string,
  contents: readonly Content[],
  copied: Copied,
): Promise<ReadonlySet<number>> {
  const now = clock.now();
  const copier = await copierOf(tx, task, now);
  if (copier instanceof Problem) {
    await releaseReservation(tx, task.uuid);
    return new Set();
  }
  const stored = contents.flatMap((content) => {
    const said = copied.get(content.id);
    return said ? [{ ...content, isEncrypted: said.isEncrypted }] : [];
  });
  await holdFolders(tx, [...new Set(stored.map(({ copyIn }) => copyIn))]);
  const made = await copyFiles(tx, task.id, stored, copier.tree, { userId: copier.userId, bucket, now });
  const used = new Set(made.filter(({ isMade }) => isMade).map(({ id }) => id));
  const bytes = stored.reduce((sum, { id, size }) => (used.has(id) ? sum + size : sum), made[0]?.metadataBytes ?? 0);
  await countBytes(tx, copier.userId, bytes, { now, reservation: task.uuid });
  await task.end([...made.map(endOf), ...contents.filter(({ id }) => !copied.get(id)).map(({ id }) => ({ id, ...GONE }))]);
  cache.invalidate(tx, USERS_TAG);
  if (made[0] && made[0].deliveries > 0) events.notifyAfterCommit(tx);
  return used;
}

const parentsOf = (items: readonly TaskItem[]): string[] => [...new Set(items.flatMap(({ copyIn }) => (copyIn === null ? [] : [copyIn])))];

const idsOf = (items: readonly { readonly id: number }[]): number[] => items.map(({ id }) => id);

const OVER_QUOTA = { code: 'quota_exceeded', message: 'Your storage quota would be exceeded.' } as const;
const GONE = { code: 'not_found', message: 'It is not there any more.' } as const;

const endOf = (made: Made): ItemEnd => (made.isMade ? { id: made.id, code: null } : { id: made.id, ...faultOf(made) });

const faultOf = ({ isThere, hasFolder, fits }: Omit<Conditions, 'id'>): Omit<ItemEnd, 'id'> => {
  if (!isThere) return GONE;
  if (!hasFolder) return { code: 'not_found', message: 'The folder that the copy was to be in is not there.' };
  return fits
    ? { code: 'name_conflict', message: 'The name is taken in the folder of the copy.' }
    : { code: 'validation_failed', message: 'The path of the copy would be too long, or too deep.' };
};
