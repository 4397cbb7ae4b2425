import { Problem } from '../../api/problem.ts';
import type { JobContext, WorkerServices } from '../../events/processor.ts';
import { LimitReached } from '../../store/postgres/errors.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { type HeldTask, taskProcessor } from '../../tasks/task-processor.ts';
import { type ItemEnd, planTo, type TaskItem } from '../../tasks/task-steps.sql.ts';
import { levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { requesterOf } from '../model/access/requester.ts';
import { releaseReservation } from '../blobs/quota-reservation.sql.ts';
import {
  type Copier as ContentCopier,
  type Copies,
  copyContents,
  reserveCopies,
  type SourceContent,
} from '../blobs/task-copies.ts';
import { countBytes } from '../blobs/quota-reservation.sql.ts';
import { COPY_FOLDER, type CopyFolderArguments } from './copy-folder-task.ts';
import {
  type Conditions,
  type CopiedTree,
  copyFiles,
  copyFolders,
  holdFolders,
  holdFoldersOfCopies,
  type Made,
  planFiles,
  planFolders,
  sourceFiles,
} from './copy-folder.sql.ts';
import { findFolder } from '../model/folders/folders.sql.ts';

/** Size of a step: 100 contents are copied between two transactions, so a crash costs no more. */
const STEP = { files: 100, folders: 1_000 };

type Task = HeldTask<CopyFolderArguments>;

/** The user who copies, and the folder that they copy, as both are now. */
interface Copier extends ContentCopier {
  readonly tree: CopiedTree;
}

/** Files of a step whose quota is reserved. */
interface Batch {
  readonly copier: Copier;
  readonly contents: readonly SourceContent[];
}

/**
 * Copies the live content of a folder: first its folders, the highest first, then its files, whose contents the store copies
 * between two transactions.
 *
 * Invariants:
 * - The copier's right to read the folder and to write to the copy is checked at each step, before and after contents are copied.
 *   Items that they may no longer copy fail.
 * - The copier's quota is never exceeded: contents are reserved before they are copied, and counted in the transaction that
 *   creates their files. An item that does not fit fails; smaller items after it are still copied.
 * - One transaction writes the folder or file of an item, its metadata, event, quota and state. Contents without a file are
 *   deleted; after a crash the sweep does this.
 * - When the copier or the tenant has reached the limit of files and folders, the remaining items fail.
 * - Content that is added to the folder after its items were found is not copied, and neither is the copy itself, wherever it is.
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
        else
          await copyContents(services, steps, batch, (tx, task, copies) =>
            commit({ ...services, cache: steps.context.cache }, tx, task, copies),
          );
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

/** Runs a step without contents, or returns the files whose contents are to be copied next. */
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

/** Takes four statements. Returns a Problem if the requester may not copy, or one of the two folders does not exist. */
async function copierOf(tx: Tx, task: Task, now: Date): Promise<Copier | Problem> {
  try {
    const caller = await requesterOf(tx, task, 'write:files', now, task.arguments.permissions);
    const [source, copy] = [await findFolder(tx, task.arguments.source), await findFolder(tx, task.arguments.copy)];
    if (!source) throw new Problem('not_found', 'The folder no longer exists.');
    if (!copy) throw new Problem('not_found', 'The folder of the copy no longer exists.');
    requireLevel(levelOn('folder', caller, source), 'read');
    requireLevel(levelOn('folder', caller, copy), 'write');
    return { userId: caller.actor.userId, userUuid: caller.actor.userUuid, task: task.uuid, tree: { source, copy } };
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Reserves quota for the files whose contents can be copied, and returns them; ends the others. */
async function reserved(tx: Tx, task: Task, copier: Copier, items: readonly TaskItem[], now: Date): Promise<Batch | 'more'> {
  const found = await sourceFiles(tx, task.id, idsOf(items), { below: copier.tree.source.ancestry });
  const there = found.flatMap((file) => (file.key !== null && file.hasFolder ? [{ ...file, key: file.key }] : []));
  const { fitting, over } = await reserveCopies(tx, { id: task.uuid, ownerId: copier.userId, now }, there);
  await task.end([
    ...found
      .filter(({ key, hasFolder }) => key === null || !hasFolder)
      .map(({ id, key, hasFolder }) => ({ id, ...faultOf({ isThere: key !== null, hasFolder, fits: true }) })),
    ...over.map(({ id }) => ({ id, ...OVER_QUOTA })),
  ]);
  return fitting.length === 0 ? 'more' : { copier, contents: fitting };
}

/** Creates files from contents; returns the items of the files that it created. */
async function commit(
  { clock, events, cache }: Pick<WorkerServices & JobContext, 'clock' | 'events' | 'cache'>,
  tx: Tx,
  task: Task,
  { bucket, stored, gone }: Copies,
): Promise<ReadonlySet<number>> {
  const now = clock.now();
  const copier = await copierOf(tx, task, now);
  if (copier instanceof Problem) {
    await releaseReservation(tx, task.uuid);
    return new Set();
  }
  const { source } = copier.tree;
  await holdFoldersOfCopies(tx, task.id, idsOf(stored));
  const made = await copyFiles(tx, task.id, stored, { below: source.ancestry }, { userId: copier.userId, bucket, now });
  const used = new Set(made.filter(({ isMade }) => isMade).map(({ id }) => id));
  const bytes = stored.reduce((sum, { id, size }) => (used.has(id) ? sum + size : sum), made[0]?.metadataBytes ?? 0);
  await countBytes(tx, copier.userId, bytes, { now, reservation: task.uuid });
  await task.end([...made.map(endOf), ...gone.map((id) => ({ id, ...GONE }))]);
  cache.invalidate(tx, USERS_TAG);
  if (made[0] && made[0].deliveries > 0) events.notifyAfterCommit(tx);
  return used;
}

const parentsOf = (items: readonly TaskItem[]): string[] => [
  ...new Set(items.flatMap(({ copyIn }) => (copyIn === null ? [] : [copyIn]))),
];

const idsOf = (items: readonly { readonly id: number }[]): number[] => items.map(({ id }) => id);

export const OVER_QUOTA = { code: 'quota_exceeded', message: 'Your storage quota would be exceeded.' } as const;
export const GONE = { code: 'not_found', message: 'It no longer exists.' } as const;

const endOf = (made: Made): ItemEnd => (made.isMade ? { id: made.id, code: null } : { id: made.id, ...faultOf(made) });

export const faultOf = ({ isThere, hasFolder, fits }: Omit<Conditions, 'id'>): Omit<ItemEnd, 'id'> => {
  if (!isThere) return GONE;
  if (!hasFolder) return { code: 'not_found', message: 'The destination folder of the copy no longer exists.' };
  return fits
    ? { code: 'name_conflict', message: 'The name is taken in the folder of the copy.' }
    : { code: 'validation_failed', message: 'The path of the copy would be too long, or too deep.' };
};
