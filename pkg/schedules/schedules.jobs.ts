import { z } from 'zod';
import { job } from '../api/job.ts';

/** Looks what a schedule is due for, and is due itself when its next tick is: a tenant costs nothing in between. */
export const TICK_SCHEDULE = job({ kind: 'schedules.tick', payload: z.object({ schedule: z.uuid() }) });
