import { Counter, Histogram } from 'prom-client';
import { processor, type WorkerServices } from '../events/processor.ts';
import type { Tx } from '../store/postgres/database.ts';
import { TaskRequests } from '../tasks/task-requests.ts';
import { requestRun, ScheduleSettings, ScheduleWork } from './schedule-kinds.ts';
import { TICK_SCHEDULE } from './schedules.jobs.ts';
import { decideTick, runAt, type TickOutcome } from './schedules.policy.ts';
import { findSchedule, insertTick, isRunning, moveOn, nowOf } from './schedules.sql.ts';

const OUTCOMES = ['run', 'skipped', 'missed'] as const satisfies readonly TickOutcome[];

interface Tick {
  readonly outcome: TickOutcome;
  readonly lateMs: number;
}

/**
 * Begins the run of a schedule that is due, and is due again with its next tick.
 *
 * Invariants:
 * - The row of a tick, its run, the next tick and the job for that are one transaction that holds the schedule: a tick is one
 *   run, or none, however many workers are at it and whichever of them dies.
 * - A schedule that is active has a job no later than its next run. One that finds nothing due sees to it, and does no more.
 *   Where the job is lost, arm-schedules.ts gives it another one.
 */
export const tickSchedule = processor({
  job: TICK_SCHEDULE,
  create: (services) => {
    const tasks = new TaskRequests(services);
    const ticks = new Counter({
      name: 'carrel_schedule_ticks_total',
      help: 'Times of tenants’ schedules that were due, by what came of them',
      labelNames: ['outcome'],
      registers: [services.metrics],
    });
    const lateness = new Histogram({
      name: 'carrel_schedule_lateness_seconds',
      help: 'How long after they were due runs of schedules were requested',
      buckets: [0.5, 1, 2, 5, 10, 30, 60, 300, 3600],
      registers: [services.metrics],
    });
    for (const outcome of OUTCOMES) ticks.inc({ outcome }, 0);
    return async ({ transaction, slug }, { schedule }) => {
      const tick = await transaction((tx) => tickOf(services, tasks, tx, slug, schedule));
      if (tick === null || tick.outcome === 'early') return;
      ticks.inc({ outcome: tick.outcome });
      if (tick.outcome === 'run') lateness.observe(tick.lateMs / 1000);
    };
  },
});

/** Null: there is no such schedule, or it is not active. */
async function tickOf({ jobs }: WorkerServices, tasks: TaskRequests, tx: Tx, slug: string, uuid: string): Promise<Tick | null> {
  const schedule = await findSchedule(tx, uuid, { lock: true });
  if (!schedule?.nextTick) return null;
  const { id, nextTick: tick, catchUp } = schedule;
  const now = await nowOf(tx);
  const decided = decideTick({ ...schedule, tick, catchUp, isRunning: await isRunning(tx, id), now }, slug);
  const { outcome, next, lateMs } = decided;
  if (outcome !== 'early') {
    const run = outcome === 'run' ? await requestRunOf(tasks, tx, schedule) : null;
    await insertTick(tx, id, tick, run, now);
    await moveOn(tx, id, next, outcome);
  }
  await jobs.schedule(tx, TICK_SCHEDULE, { schedule: uuid }, runAt(next, slug), { unlessSooner: true });
  return { outcome, lateMs };
}

/** The uuid of the run. */
async function requestRunOf(
  tasks: TaskRequests,
  tx: Tx,
  { id, uuid, savedBy, kind, arguments: given, settings }: NonNullable<Awaited<ReturnType<typeof findSchedule>>>,
): Promise<string> {
  const work = ScheduleWork.parse({ kind, arguments: given });
  const run = await requestRun(tx, tasks, work, ScheduleSettings.parse(settings), {
    scheduleId: id,
    schedule: uuid,
    userId: savedBy,
  });
  return run.id;
}
