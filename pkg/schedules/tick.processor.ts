import { Counter, Histogram } from 'prom-client';
import { processor, type WorkerServices } from '../events/processor.ts';
import type { Tx } from '../store/postgres/database.ts';
import { TaskRequests } from '../tasks/task-requests.ts';
import { requestRun, ScheduleSettings, ScheduleWork } from './schedule-kinds.ts';
import { TICK_SCHEDULE } from './schedules.jobs.ts';
import { decideTick, runAt, type TickOutcome } from './tick.policy.ts';
import { findSchedule, insertTick, isRunning, moveOn, nowOf } from './schedules.sql.ts';

const OUTCOMES = ['run', 'skipped', 'missed'] as const satisfies readonly TickOutcome[];

interface Tick {
  readonly outcome: TickOutcome;
  readonly lateMs: number;
}

/**
 * Begins the run of a schedule that is due, and schedules the next tick.
 *
 * Invariants:
 * - The row of a tick, its run, the next tick and the job for that are one transaction that locks the schedule. So a tick results
 *   in one run or none, however many workers process it and whichever of them dies.
 * - An active schedule has a job no later than its next run. A job that finds nothing due inserts the next one, and does no more.
 *   If the job is lost, arm-schedules.ts inserts another.
 */
export const tickSchedule = processor({
  job: TICK_SCHEDULE,
  create: (services) => {
    const tasks = new TaskRequests(services);
    const ticks = new Counter({
      name: 'carrel_schedule_ticks_total',
      help: 'Ticks of tenants’ schedules that were due, by outcome',
      labelNames: ['outcome'],
      registers: [services.metrics],
    });
    const lateness = new Histogram({
      name: 'carrel_schedule_lateness_seconds',
      help: 'Delay between the due time of a scheduled run and its request',
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

/** Returns null if the schedule does not exist or is not active. */
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

/** Returns the uuid of the run. */
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
