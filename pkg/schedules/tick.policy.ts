import { hash } from 'node:crypto';
import { MINUTE_MS } from '../runtime/time.ts';
import { Cron } from './cron.ts';

/** Spreads the runs that all tenants have in the same minute over this time. */
export const SPREAD_MS = 60_000;
/** A tick that is found later than this was missed: no worker was running. */
export const MISSED_AFTER_MS = 5 * MINUTE_MS;

/**
 * Returns how long after a tick the tenant's runs begin, in whole milliseconds below SPREAD_MS. It is fixed, so that
 * `next_run_at` can show it.
 */
export const offsetOf = (slug: string): number =>
  Number.parseInt(hash('sha256', `schedules:${slug}`, 'hex').slice(0, 8), 16) % SPREAD_MS;

/** Returns when the run of a tick begins. */
export const runAt = (tick: Date, slug: string): Date => new Date(tick.getTime() + offsetOf(slug));

/** The cron expression and time zone of a schedule. */
export interface Times {
  readonly cron: string;
  readonly timeZone: string;
}

/** Returns the first tick whose run is after `now`. */
export const firstTick = ({ cron, timeZone }: Times, now: Date, slug: string): Date =>
  new Cron(cron, timeZone).nextAfter(new Date(now.getTime() - offsetOf(slug)));

/**
 * `early`: it is not due. `skipped`: the previous run is still active. `missed`: it is too late, and the schedule does not catch
 * up.
 */
export type TickOutcome = 'run' | 'skipped' | 'missed' | 'early';

interface TickState extends Times {
  /** The tick that is due next. */
  readonly tick: Date;
  readonly catchUp: boolean;
  /** A run of the schedule has not ended. */
  readonly isRunning: boolean;
  /** The time by Postgres' clock, which also decides when a job is due. */
  readonly now: Date;
}

/** Returns the outcome of a tick and the next tick. Ticks in between were missed, and do not run. */
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
