import { type Actor, type Permission } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import { NestedServices } from '../../events/nested-services.ts';
import type { JobContext, WorkerServices } from '../../events/processor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import {
  LimitReached,
  LockTimeout,
  SerializationFailure,
  StatementTimeout,
  TooManyJobs,
  UniqueViolation,
} from '../../store/postgres/errors.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { TaskRequests } from '../../tasks/task-requests.ts';
import { type HeldTask, taskProcessor, type TaskSteps } from '../../tasks/task-processor.ts';
import type { ItemEnd, TaskItem } from '../../tasks/task-steps.sql.ts';
import { requesterOf } from '../model/access/requester.ts';
import { FileSets } from './file-sets.service.ts';
import { FileMoves } from '../files/file-moves.service.ts';
import { FileTrash } from '../files/file-trash.service.ts';
import { FileLists } from '../lists/file-lists.service.ts';
import { BeyondNewest } from '../lists/beyond-newest.ts';
import { FileTexts } from '../model/files/file-texts.ts';
import { Files } from '../model/files/files.service.ts';
import { FolderCopies } from '../folders/folder-copies.service.ts';
import { FolderTrash } from '../folders/folder-trash.service.ts';
import { Folders } from '../folders/folders.service.ts';
import { Grants } from '../sharing/grants.service.ts';
import { Metadata } from '../metadata/metadata.service.ts';
import { Search } from '../search/search.service.ts';
import { Shares } from '../sharing/shares.service.ts';
import { Tags } from '../tags/tags.service.ts';
import { TrashSchedule } from '../trash/trash-schedule.ts';
import { copyContents } from '../blobs/task-copies.ts';
import { BATCH, type BatchArguments } from './batch-task.ts';
import { addBytes, bytesOf, coveredOf, lockFilesOf } from './batch.sql.ts';
import { commitCopies, type Copying, endsOfFoldersBelow, endsWithoutCopies, reserved } from './copy-items.ts';
import type { ListsOfFilter } from './filter.ts';
import { type BatchServices, type Operation, OPERATIONS } from './operations.ts';
import { planMatches, planNamed, RANK_OF_FILES } from './plan-batch.ts';
import { isBelow, planBelow } from './plan-copies.ts';

/**
 * A step that has run this long ends after its current item, so that cancellations, and requests that wait for its locks, do not
 * wait longer.
 */
const STEP_MS = 200;
const STEP = { files: 100, folders: 1 };
const STEP_OF_COPIES = { files: 100, folders: 100 };

type Task = HeldTask<BatchArguments>;

/**
 * Applies one operation to many files and folders, with the same services as the endpoints for single ones.
 *
 * Invariants:
 * - Each item is a savepoint of its step: its changes, events and state are committed together or not at all, and an item that
 *   fails changes nothing.
 * - The requester's roles and grants are read again at each step. An item that they may not change fails with the code that the
 *   endpoint would return.
 * - A dry run changes nothing: each item gets the result that it would have by itself, and is rolled back.
 * - Items below a folder that the same job has deleted, moved or restored are skipped, because they went with the folder.
 */
export const batch = taskProcessor({
  kind: BATCH,
  create: (services) => async (steps) => {
    const { context } = steps;
    const { operation, trashRetentionMs } = await steps.step(async (_tx, task) => task.arguments);
    const schedule = new TrashSchedule({ ...services, db: context.db, settings: { trashRetentionMs } });
    for (let more = true; more;) {
      steps.yieldTurn();
      if (operation === 'delete') await schedule.ensure(); // outside of a step, which would wait for a second connection
      more = await oneStep(services, steps, schedule);
    }
  },
});

/** Returns false if the task has ended. */
async function oneStep(services: WorkerServices, steps: TaskSteps<BatchArguments>, schedule: TrashSchedule): Promise<boolean> {
  const { context, step } = steps;
  try {
    const done = await step((tx, task) => next(services, context, tx, task, schedule));
    if (typeof done !== 'object') return done === 'more';
    const deps = { ...services, cache: context.cache };
    const actorNow = (tx: Tx, task: Task): Promise<Actor> => actorOf(tx, task, services.clock.now());
    await copyContents(services, steps, done, (tx, task, copies) => commitCopies(deps, tx, task, done, copies, actorNow));
    return true;
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    // The quota has no room for a single file, so none of the remaining ones fits.
    await step(async (_tx, task) => {
      await task.endRest({ code: 'quota_exceeded', message: error.message });
      await task.succeed();
    });
    return false;
  }
}

/** Runs a step. Returns the contents that must be copied before the next one. */
async function next(
  services: WorkerServices,
  context: JobContext,
  tx: Tx,
  task: Task,
  schedule: TrashSchedule,
): Promise<Copying | 'more' | 'ended'> {
  const operation = OPERATIONS[task.arguments.operation] as Operation;
  const actor = await requester(services, tx, task);
  if (actor === null) return 'ended';
  const nested = new NestedServices(services, context, tx);
  if (!task.isPlanned) {
    if (isBelow(task.cursor)) await planBelow(tx, task, actor, RANK_OF_FILES);
    else if (task.arguments.filter === null) await planNamed(tx, task, operation, actor);
    else await planMatches(tx, task, operation, actor, listsOf(nested));
    return 'more';
  }
  const items = await task.next(operation.copies ? STEP_OF_COPIES : STEP);
  if (items.length === 0) {
    await task.succeed();
    return 'ended';
  }
  const step = { tx, task, operation, actor, nested, items, schedule };
  if (operation.copies) return copyStep(services, context, step);
  await runStep(services, context, step);
  return 'more';
}

async function copyStep(services: WorkerServices, context: JobContext, step: Step): Promise<Copying | 'more'> {
  const { tx, task, actor, nested, items } = step;
  const isDry = task.arguments.dryRun;
  const now = services.clock.now();
  if (items[0]?.targetType === 'file') {
    if (!isDry) return (await reserved(tx, task, actor, items, now)) ?? 'more';
    await task.end(await endsWithoutCopies(nested, tx, task, actor, items, now));
    return 'more';
  }
  // A dry run undoes each copy, so that items below it have no folder to be copied into.
  const below = isDry ? items.filter(({ copyIn }) => copyIn !== null) : [];
  if (below.length > 0) await task.end(await endsOfFoldersBelow(tx, task, actor, below));
  if (below.length < items.length)
    await runStep(services, context, { ...step, items: items.filter((item) => !below.includes(item)) });
  return 'more';
}

/** Returns null if the requester may no longer do anything; the task has then ended. */
async function requester({ clock }: WorkerServices, tx: Tx, task: Task): Promise<Actor | null> {
  try {
    return await actorOf(tx, task, clock.now());
  } catch (error) {
    if (!(error instanceof Problem) || !task.isPlanned) throw error;
    await task.endRest({ code: error.code, message: error.message });
    await task.succeed();
    return null;
  }
}

const actorOf = async (tx: Tx, task: Task, now: Date): Promise<Actor> =>
  (await requesterOf(tx, task, 'read:files', now, task.arguments.permissions)).actor;

interface Step {
  readonly tx: Tx;
  readonly task: Task;
  readonly operation: Operation;
  readonly actor: Actor;
  readonly nested: NestedServices;
  readonly items: readonly TaskItem[];
  readonly schedule: TrashSchedule;
}

async function runStep(services: WorkerServices, context: JobContext, step: Step): Promise<void> {
  const { tx, task, operation, nested, items, schedule } = step;
  const { clock } = services;
  const until = clock.monotonic() + STEP_MS;
  const targets = items.map(({ target }) => target);
  if (items[0]?.targetType === 'file') {
    const { folder_id: destination } = task.arguments.given;
    await lockFilesOf(tx, targets, typeof destination === 'string' ? destination : null);
  }
  const covered = operation.folders === 'first' ? await coveredOf(tx, task.id, targets) : new Set();
  const bytes = operation.counts && (await bytesOf(tx, targets, operation.counts === 'any'));
  const single = singleServices(services, nested, task, schedule);
  const skipped = items.filter(({ target }) => covered.has(target));
  const others = items.filter(({ target }) => !covered.has(target));
  const { ended, left } = await endsOfAll(services, step, single, others);
  for (const item of left) {
    if (ended.length > 0 && (clock.monotonic() > until || context.signal.aborted)) break;
    ended.push(await endOf(services, step, single, item));
  }
  const done = new Set(ended.filter(({ code }) => code === null).map(({ id }) => id));
  const taken = others.reduce((sum, { id, target }) => sum + (done.has(id) ? (bytes?.get(target) ?? 0) : 0), 0);
  await nested.flush();
  await task.end([...skipped.map(({ id }): ItemEnd => ({ id, code: null, skipped: 'with_folder' })), ...ended]);
  if (taken > 0) await addBytes(tx, task.id, taken);
}

/** Runs the operation with all items at once; `left` are the items to try one by one. */
async function endsOfAll(
  services: WorkerServices,
  { task, operation, actor, nested }: Step,
  single: BatchServices,
  items: readonly TaskItem[],
): Promise<{ readonly ended: ItemEnd[]; readonly left: readonly TaskItem[] }> {
  const { files, permissions } = operation;
  const none = { ended: [], left: items };
  if (!files || items[0]?.targetType !== 'file' || !actor.permissions.has(permissions.file)) return none;
  try {
    const targets = items.map(({ target }) => target);
    const all = () => files(single, actor, targets, task.arguments.given as never);
    const { refused, left = new Set() } = await nested.call(all, { undone: task.arguments.dryRun });
    const ended = items
      .filter(({ target }) => !left.has(target))
      .map(({ id, target }) => {
        const problem = refused.get(target);
        return problem ? { id, code: problem.code, message: problem.message } : { id, code: null };
      });
    return { ended, left: items.filter(({ target }) => left.has(target)) };
  } catch (error) {
    if (!(error instanceof UniqueViolation)) faultOf(services, error);
    return none;
  }
}

/** Runs the operation with an item, and returns its end. */
async function endOf(
  services: WorkerServices,
  { tx, task, operation, actor: before, nested }: Step,
  single: BatchServices,
  item: TaskItem,
): Promise<ItemEnd> {
  const { id, target, targetType } = item;
  const does = operation[targetType];
  const permission: Permission | undefined = operation.permissions[targetType];
  const { dryRun } = task.arguments;
  try {
    const actor = operation.changesRights ? await actorOf(tx, task, services.clock.now()) : before;
    if (!does || !permission) throw new Problem('validation_failed', `This cannot be done with a ${targetType}.`);
    if (!actor.permissions.has(permission)) throw new Problem('forbidden', `Requires the permission ${permission}.`);
    const done = () => does(single, actor, target, task.arguments.given as never, item);
    const given = await nested.call(done, { undone: dryRun });
    return { id, code: null, ...(dryRun || !operation.resultOf ? {} : { result: operation.resultOf(given) }) };
  } catch (error) {
    return { id, ...faultOf(services, error) };
  }
}

/** Returns the code and message of an item that failed; rethrows an error that concerns the whole step. */
function faultOf({ log }: WorkerServices, error: unknown): Pick<ItemEnd, 'code' | 'message'> {
  if (error instanceof Problem) return { code: error.code, message: error.message };
  if (error instanceof LimitReached) return { code: 'quota_exceeded', message: error.message };
  if (error instanceof LockTimeout || error instanceof StatementTimeout)
    return { code: 'unavailable', message: 'It took too long; try it again.' };
  if (error instanceof StoreUnavailableError || error instanceof SerializationFailure || error instanceof TooManyJobs)
    throw error;
  log.error({ err: error }, 'an item of a batch failed');
  return { code: 'internal', message: 'This failed here; the operators can see why.' };
}

function singleServices(services: WorkerServices, nested: NestedServices, task: Task, trash: TrashSchedule): BatchServices {
  const { db, cache, events } = nested;
  const { trashRetentionMs, appUrl } = task.arguments;
  const deps = { ...services, db, cache, events, settings: { trashRetentionMs }, trash };
  const files = new Files(deps);
  return {
    files,
    fileMoves: new FileMoves(deps),
    fileTrash: new FileTrash(deps),
    sets: new FileSets(deps),
    folders: new Folders(deps),
    folderTrash: new FolderTrash(deps),
    folderCopies: new FolderCopies({ ...deps, tasks: new TaskRequests(services) }),
    tags: new Tags({ ...deps, files }),
    metadata: new Metadata({ ...deps, files }),
    grants: new Grants(deps),
    shares: new Shares({ ...deps, passwords: unused, appUrl }),
  };
}

/** The server hashes passwords. */
const unused = (): never => {
  throw new TypeError('a batch hashes no password');
};

function listsOf({ db, cache }: NestedServices): ListsOfFilter {
  const deps = { db, fileTexts: new FileTexts(), beyondNewest: new BeyondNewest() };
  return { files: new FileLists({ ...deps, files: new Files({ db, cache }) }), search: new Search(deps) };
}
