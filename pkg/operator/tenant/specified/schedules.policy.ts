import { faultOfSpecified, type SpecifiedSchedule } from '../../../schedules/managed-schedules.ts';
import type { Tenant } from '../../kinds.ts';

/**
 * Returns the refusal of a schedule that the schema cannot check: an expression that never matches, an unknown time zone, or
 * arguments that the kind does not accept.
 */
export function schedulesRefusal({ spec }: Tenant): { readonly reason: string; readonly message: string } | undefined {
  for (const schedule of spec.schedules ?? []) {
    const fault = faultOfSpecified(schedule as SpecifiedSchedule);
    if (fault !== null) return { reason: 'ScheduleInvalid', message: `spec.schedules, ${schedule.name}: ${fault}` };
  }
  return undefined;
}
