import { Problem } from '../../api/problem.ts';
import { NextTurn, type WorkerServices } from '../../events/processor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { type HeldTask, requireRequester, taskProcessor } from '../../tasks/task-processor.ts';
import { advanceTask } from '../../tasks/task-steps.sql.ts';
import { requireActive } from '../deliveries.policy.ts';
import { countReplayable, dueOf, type Position, replayNext } from '../deliveries.sql.ts';
import { REPLAY, type ReplayArguments } from './replay-task.ts';

/** Deliveries of the webhook that are due at once, at most: an event of this moment waits behind no more of them. */
const DUE_MAX = 16;
const LOOK_EVERY_MS = 100;
/** Where as many stay due, the receiver is slow or down, and the tenant's other jobs may go on meanwhile. */
const FULL_FOR_MS = 1_000;
const WAIT_MS = 5_000;

type Task = HeldTask<ReplayArguments>;

/**
 * Delivers again what lies in a range, the oldest first, at the receiver's own pace.
 *
 * Invariants:
 * - The new deliveries of a step, how far it has come and how many they are, are one transaction: a worker that is killed makes
 *   none twice.
 * - No more is made due than the webhook works off: at most DUE_MAX of its deliveries are due after a step, those of new events
 *   included.
 * - An event counts by its newest delivery to the webhook, so what is under way, or was replayed by another request, is not sent
 *   by this one.
 * - Nothing is sent to a webhook that is gone or not active, or for somebody who may not do that any more: then the job fails.
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
          throw new NextTurn('the webhook has enough deliveries that are due', WAIT_MS);
        await clock.sleep(LOOK_EVERY_MS, context.signal);
      }
    },
});

async function next({ events }: WorkerServices, tx: Tx, task: Task): Promise<'made' | 'full' | 'ended'> {
  // That of whoever runs the platform (`carrel webhooks replay`) is nobody's.
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
  if (!row) throw new Problem('not_found', 'The webhook is not there any more.');
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
