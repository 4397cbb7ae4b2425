import { z } from 'zod';
import type { ProblemCode } from '../../api/error-catalogue.ts';
import { Problem } from '../../api/problem.ts';
import { type Processor, TryLater } from '../../events/processor.ts';
import type { WorkerServices } from '../../events/processor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { SYNC_ROSTER, SYNC_ROSTERS } from '../../tasks/roster-tasks.ts';
import { type HeldTask, requireRequester, taskProcessor, type TaskSteps } from '../../tasks/task-processor.ts';
import { advanceTask, countAttempt, setResult } from '../../tasks/task-steps.sql.ts';
import { requireTaught } from '../contexts/contexts.service.ts';
import { type ContextRow, findContext, nextCourseWithRoster } from '../contexts/contexts.sql.ts';
import { LmsCalls } from '../services/lms-calls.ts';
import { deleteEntries, deleteEntriesOf } from './roster-entries.sql.ts';
import { RosterSync } from './roster-sync.ts';
import type { ImportedRoster } from './import-roster.ts';

/** Waits between attempts at an unavailable LMS. */
export const RETRY_MS: readonly number[] = [2_000, 15_000, 60_000];
/** Errors after which the next attempt may succeed. */
const PASSING: ReadonlySet<ProblemCode> = new Set(['lms_unavailable', 'lms_timeout']);
/** After this many consecutive courses for which an LMS is unavailable, a run no longer asks it. */
const UNAVAILABLE_MAX = 3;

/**
 * Imports rosters: of one course on request, and of all courses of a tenant. Each attempt starts from the beginning: an LMS's
 * pages are not a snapshot, so pages read before and after a crash do not form one roster.
 *
 * Invariants:
 * - The memberships, the result, and the end of the job or of its course are one transaction.
 * - The person who requested it must still teach the course or administer the tenant when it begins.
 */
export function rosterProcessors({ retryMs = RETRY_MS }: { readonly retryMs?: readonly number[] } = {}): Processor[] {
  let shared: RosterSync | undefined;
  const of = (services: WorkerServices): RosterSync => (shared ??= new RosterSync(services, new LmsCalls(services)));
  const undo = async (_services: WorkerServices, { transaction }: TaskSteps<unknown>['context'], uuid: string): Promise<void> => {
    await transaction((tx) => deleteEntriesOf(tx, uuid));
  };
  return [
    taskProcessor({
      kind: SYNC_ROSTER,
      undo,
      create: (services) => {
        const sync = of(services); // Created now because its metrics must exist from the start.
        return (steps) => trying(steps, retryMs, () => syncOne(sync, steps));
      },
    }),
    taskProcessor({
      kind: SYNC_ROSTERS,
      undo,
      create: (services) => {
        const sync = of(services);
        return async (steps) => {
          for (let more = true; more;) {
            steps.yieldTurn();
            more = await syncNext(services, sync, steps);
          }
        };
      },
    }),
  ];
}

type OneCourse = z.output<(typeof SYNC_ROSTER)['arguments']>;

async function syncOne(sync: RosterSync, { context, step }: TaskSteps<OneCourse>): Promise<void> {
  const course = await step(async (tx, task) => {
    await beginAnew(tx, task.id);
    return courseOf(tx, task);
  });
  const roster = await sync.read({ context, step }, course);
  await step(async (tx, task) => {
    const imported = await sync.import(tx, task, context, roster);
    await setResult(tx, task.id, { ...imported, ...(roster.skipped.length === 0 ? {} : { skipped: [...roster.skipped] }) });
    await task.succeed();
  });
}

const beginAnew = (tx: Tx, taskId: number): Promise<unknown> => deleteEntries(tx, taskId);

/** Throws `forbidden`, `not_found`. */
async function courseOf(tx: Tx, task: HeldTask<OneCourse>): Promise<ContextRow> {
  const { context } = task.arguments;
  if (task.userId !== null) return requireTaught(tx, await requireRequester(tx, task, 'write:grades'), context);
  const course = await findContext(tx, context, 0);
  if (!course) throw new Problem('not_found');
  return course;
}

/** Retries after a while if the LMS is unavailable. */
async function trying(steps: TaskSteps<OneCourse>, retryMs: readonly number[], run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof Problem) || !PASSING.has(error.code)) throw error;
    const waitMs = await steps.step(async (tx, task) => retryMs[(await countAttempt(tx, task.id)) - 1]);
    throw waitMs === undefined ? error : new TryLater(error.message, waitMs);
  }
}

/**
 * Progress of a run over all courses. `unavailable`: for each registration, the number of consecutive courses for which its LMS
 * was unavailable.
 */
const Reached = z.object({
  after: z.int(),
  unavailable: z.record(z.string(), z.int()),
  courses: z.int(),
  failed: z.int(),
  added: z.int(),
  changed: z.int(),
  removed: z.int(),
});
type Reached = z.output<typeof Reached>;

const BEGINNING: Reached = { after: 0, unavailable: {}, courses: 0, failed: 0, added: 0, changed: 0, removed: 0 };

/** Syncs the next course. Returns false if there was none and the task has ended. */
async function syncNext(services: WorkerServices, sync: RosterSync, { context, step }: TaskSteps<object>): Promise<boolean> {
  const next = await step(async (tx, task) => {
    await requireRequester(tx, task, 'write:schedules');
    await beginAnew(tx, task.id);
    const reached = task.cursor === null ? BEGINNING : Reached.parse(task.cursor);
    const course = await nextCourseWithRoster(tx, reached.after);
    if (course) return { reached, course };
    const { after: _, unavailable: __, ...counts } = reached;
    await setResult(tx, task.id, counts);
    await task.succeed();
    return null;
  });
  if (!next) return false;
  const { reached, course } = next;
  try {
    requireAvailable(reached, course);
    const roster = await sync.read({ context, step }, course);
    await step(async (tx, task) =>
      advance(tx, task.id, succeeded(reached, course, await sync.import(tx, task, context, roster))),
    );
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    services.log.warn(
      { tenant: context.slug, course: course.uuid, code: error.code, reason: error.message },
      'could not import a roster',
    );
    await step((tx, task) => advance(tx, task.id, failedAt(reached, course, error)));
  }
  return true;
}

function requireAvailable({ unavailable }: Reached, { toolId }: ContextRow): void {
  if ((unavailable[String(toolId)] ?? 0) >= UNAVAILABLE_MAX)
    throw new Problem('lms_unavailable', 'The LMS was unavailable for the preceding courses, so it was not asked again.');
}

const advance = (tx: Tx, id: number, cursor: Reached): Promise<unknown> => advanceTask(tx, id, { total: 1, done: 1, cursor });

const succeeded = (reached: Reached, { groupId, toolId }: ContextRow, { added, changed, removed }: ImportedRoster): Reached => ({
  ...reached,
  after: groupId,
  unavailable: { ...reached.unavailable, [String(toolId)]: 0 },
  courses: reached.courses + 1,
  added: reached.added + added,
  changed: reached.changed + changed,
  removed: reached.removed + removed,
});

const failedAt = (reached: Reached, { groupId, toolId }: ContextRow, { code }: Problem): Reached => {
  const before = reached.unavailable[String(toolId)] ?? 0;
  return {
    ...reached,
    after: groupId,
    unavailable: { ...reached.unavailable, [String(toolId)]: PASSING.has(code) ? before + 1 : 0 },
    failed: reached.failed + 1,
  };
};
