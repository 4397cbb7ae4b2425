import { Problem } from '../../api/problem.ts';
import { NextTurn, type WorkerServices } from '../../events/processor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { type HeldTask, requireRequester, taskProcessor } from '../../tasks/task-processor.ts';
import { advanceTask } from '../../tasks/task-steps.sql.ts';
import { requireActive } from '../deliveries.policy.ts';
import { countReplayable, dueOf, type Position, replayNext } from '../deliveries.sql.ts';
import { REPLAY, type ReplayArguments } from './replay-task.ts';

/** Due deliveries of the webhook at once, so that a new event never waits behind more of them. */
const DUE_MAX = 16;
const LOOK_EVERY_MS = 100;
/** If as many stay due, the receiver is slow or down, and the tenant's other jobs may run meanwhile. */
const FULL_FOR_MS = 1_000;
const WAIT_MS = 5_000;

type Task = HeldTask<ReplayArguments>;

/**
 * Replays the deliveries of a range, the oldest first, at the receiver's own pace.
 *
 * Invariants:
 * - One transaction writes the new deliveries of a step, the progress and the counts: a worker that is killed makes no delivery
 *   twice.
 * - It makes no more due than the webhook works off: at most DUE_MAX of its deliveries are due after a step, those of new events
 *   included.
 * - An event counts by its newest delivery to the webhook. So this replay does not send an event that is pending, or that another
 *   request replayed.
 * - Nothing is sent to a deleted or inactive webhook, or for a person who may no longer do that: then the job fails.
 */
export const replay = taskProcessor({
  kind: REPLAY,
  create:
    (services) =>
    async ({ step, yieldTurn, context }) => {
      const { clock } = services;
      let fullSince: number | undefined;
      for (;;) {
        yieldTurn();
        const made = await step((tx, task) => next(services, tx, task));
        if (made === 'ended') return;
        fullSince = made === 'full' ? (fullSince ?? clock.monotonic()) : undefined;
        if (fullSince !== undefined && clock.monotonic() - fullSince > FULL_FOR_MS)
          throw new NextTurn('the webhook has enough due deliveries', WAIT_MS);
        await clock.sleep(LOOK_EVERY_MS, context.signal);
      }
    },
});

async function next({ events }: WorkerServices, tx: Tx, task: Task): Promise<'made' | 'full' | 'ended'> {
  // A replay by an operator of the platform (`carrel webhooks replay`) has no user.
  if (task.userId !== null) await requireRequester(tx, task, 'write:webhooks');
  const { webhook, since, until, states } = task.arguments;
  const position = (task.cursor ?? [since, 0]) as unknown as Position;
  if (task.cursor === null) {
    const total = await countReplayable(tx, { webhook, states, position, until });
    await advanceTask(tx, task.id, { total, done: 0, cursor: position });
    return 'made';
  }
  // Replays of one webhook take turns.
  const row = await tx.webhooks.find({ uuid: webhook }, { lock: 'update' });
  if (!row) throw new Problem('not_found', 'The webhook no longer exists.');
  requireActive(row);
  const slots = DUE_MAX - (await dueOf(tx, webhook, DUE_MAX));
  if (slots <= 0) return 'full';
  const last = await replayNext(tx, { webhook, states, position, until, limit: slots });
  if (!last) {
    await task.succeed();
    return 'ended';
  }
  await advanceTask(tx, task.id, { total: 0, done: last.count, cursor: last.position });
  events.notifyAfterCommit(tx);
  return 'made';
}
