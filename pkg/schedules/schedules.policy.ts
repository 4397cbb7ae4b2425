import { Problem } from '../api/problem.ts';
import { MANAGED_BY } from '../store/postgres/tenant-schema.ts';
import { DAY_MS } from '../runtime/time.ts';

/** Schedules of a tenant at most, including those of its Tenant resource. */
export const SCHEDULES_MAX = 50;
/** Ticks are kept as long as their runs. */
export const TICK_RETENTION_MS = 30 * DAY_MS;

/** A schedule of `spec.schedules` must be changed there. Throws `managed`. */
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
