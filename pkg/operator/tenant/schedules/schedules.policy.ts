import { faultOfSpecified, type SpecifiedSchedule } from '../../../schedules/managed-schedules.ts';
import type { Tenant } from '../../kinds.ts';

/**
 * Of a rule that the schema does not say: an expression that never matches, a zone that nobody knows, arguments that the kind
 * does not take.
 */
export function schedulesRefusal({ spec }: Tenant): { readonly reason: string; readonly message: string } | undefined {
  for (const schedule of spec.schedules ?? []) {
    const fault = faultOfSpecified(schedule as SpecifiedSchedule);
    if (fault !== null) return { reason: 'ScheduleInvalid', message: `spec.schedules, ${schedule.name}: ${fault}` };
  }
  return undefined;
}
