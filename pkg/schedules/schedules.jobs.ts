import { z } from 'zod';
import { job } from '../api/job.ts';

/** Runs a schedule that is due, and is due again at the next tick. So a tenant costs nothing in between. */
export const TICK_SCHEDULE = job({ kind: 'schedules.tick', payload: z.object({ schedule: z.uuid() }) });
