import { z } from 'zod';
import { taskKind } from './task-kind.ts';

/*
 * Jobs that take over rosters of courses from their LMSs (docs/design/lti.md, Members). Declared here, since schedules request
 * them too, and packages of one layer do not import each other.
 */

/** A stalled LMS holds a slot until its time-out. */
export const ROSTER_QUEUE = 'rosters';

/** Of one course: the uuid of its group. */
export const SYNC_ROSTER = taskKind({ name: 'sync_roster', queue: ROSTER_QUEUE, arguments: z.object({ context: z.uuid() }) });

/** Of all courses whose LMS offers it. */
export const SYNC_ROSTERS = taskKind({ name: 'sync_rosters', queue: ROSTER_QUEUE, arguments: z.object({}) });
