import { hash } from 'node:crypto';
import { Problem } from '../api/problem.ts';
import { MANAGED_BY } from '../store/postgres/tenant-schema.ts';
import { Cron } from './cron.ts';

/** Schedules of a tenant, those of its resource included. */
export const SCHEDULES_MAX = 50;
/** What all tenants have at one minute is spread over so long. */
export const SPREAD_MS = 60_000;
/** A tick that is found later than this is a missed one: nothing was running. */
export const MISSED_AFTER_MS = 5 * 60_000;
/** Ticks are kept so long, as their runs are. */
export const TICK_RETENTION_MS = 30 * 24 * 60 * 60_000;

/** How long after a tick the tenant's runs begin: fixed, so that `next_run_at` says it. In whole milliseconds below SPREAD_MS. */
export const offsetOf = (slug: string): number =>
  Number.parseInt(hash('sha256', `schedules:${slug}`, 'hex').slice(0, 8), 16) % SPREAD_MS;

/** When the run of a tick begins. */
export const runAt = (tick: Date, slug: string): Date => new Date(tick.getTime() + offsetOf(slug));

/** When a schedule matches next, and what that is. */
export interface Times {
  readonly cron: string;
  readonly timeZone: string;
}

/** The first tick whose run is after `now`. */
export const firstTick = ({ cron, timeZone }: Times, now: Date, slug: string): Date =>
  new Cron(cron, timeZone).nextAfter(new Date(now.getTime() - offsetOf(slug)));

/** `early`: it is not due. `skipped`: the run before is still active. `missed`: too late, and not to be caught up. */
export type TickOutcome = 'run' | 'skipped' | 'missed' | 'early';

export interface TickState extends Times {
  /** The tick that is due next. */
  readonly tick: Date;
  readonly catchUp: boolean;
  /** A run of the schedule has not ended. */
  readonly isRunning: boolean;
  /** By Postgres' clock, which decides when a job is due too. */
  readonly now: Date;
}

/** What becomes of a tick, and which is the next: ticks in between have been missed, and are no further runs. */
export function decideTick(
  state: TickState,
  slug: string,
): { readonly outcome: TickOutcome; readonly next: Date; readonly lateMs: number } {
  const { tick, now, catchUp, isRunning } = state;
  const lateMs = now.getTime() - runAt(tick, slug).getTime();
  if (lateMs < 0) return { outcome: 'early', next: tick, lateMs };
  const next = firstTick(state, now, slug);
  if (lateMs > MISSED_AFTER_MS && !catchUp) return { outcome: 'missed', next, lateMs };
  return { outcome: isRunning ? 'skipped' : 'run', next, lateMs };
}

/** A schedule of `spec.schedules` is changed there. Throws `managed`. */
export function requireOwn({
  managedBy,
  managedRef,
}: {
  readonly managedBy: string | null;
  readonly managedRef: string | null;
}): void {
  if (managedBy === null) return;
  const what = managedBy === MANAGED_BY ? `The Tenant resource (spec.schedules, ${managedRef ?? ''})` : managedBy;
  throw new Problem('managed', `${what} manages this schedule; change it there.`);
}

export const TOO_MANY_SCHEDULES = `An institution has at most ${SCHEDULES_MAX} schedules; delete one first.`;
