import { z } from 'zod';
import { taskKind } from './task-kind.ts';
import { TaskSubject } from './tasks.schema.ts';

/*
 * Jobs that copy rosters of courses from their LMSs (docs/design/lti.md, Members). They are declared here because schedules
 * request them too, and packages of one layer do not import each other.
 */

/** A queue of its own: a stalled LMS holds a slot until its time-out. */
export const ROSTER_QUEUE = 'rosters';

/** Copies the roster of one course; `context` is the uuid of its group. */
export const SYNC_ROSTER = taskKind({
  name: 'sync_roster',
  queue: ROSTER_QUEUE,
  arguments: z.object({ context: z.uuid(), subject: TaskSubject.optional() }),
});

/** Copies the rosters of all courses whose LMS offers them. */
export const SYNC_ROSTERS = taskKind({ name: 'sync_rosters', queue: ROSTER_QUEUE, arguments: z.object({}) });
