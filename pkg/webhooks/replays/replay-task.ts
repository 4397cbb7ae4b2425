import { z } from 'zod';
import { taskKind } from '../../tasks/task-kind.ts';
import { REPLAYABLE_STATES } from '../deliveries.schema.ts';

/** Replays deliveries created from `since` until before `until` (ISO 8601) that have ended in one of `states`. */
export const REPLAY = taskKind({
  name: 'replay',
  arguments: z.object({
    webhook: z.uuid(),
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    states: z.array(z.enum(REPLAYABLE_STATES)),
  }),
});
export type ReplayArguments = z.output<(typeof REPLAY)['arguments']>;
