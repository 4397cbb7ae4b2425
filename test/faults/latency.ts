import { Events } from '../../pkg/events/events.ts';
import { WorkerNotifier } from '../../pkg/events/worker-notifier.ts';
import { systemClock } from '../../pkg/runtime/clock.ts';
import { silentLogger } from '../../pkg/runtime/log.ts';
import { systemRandom } from '../../pkg/runtime/random.ts';
import type { Receiver } from '../support/fakes/receiver.ts';
import type { TestTenant } from '../support/programs/server.ts';
import { range, waitFor } from '../support/wait.ts';

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;

/** Returns the percentile of `numbers`: `percent` % of them do not exceed it. */
export const percentile = (numbers: readonly number[], percent: number): number =>
  numbers.toSorted((one, other) => one - other)[Math.ceil((numbers.length * percent) / 100) - 1] ?? 0;

export interface Pace {
  readonly events: number;
  readonly everyMs: number;
  /** The percentile of the times; 99 unless set. */
  readonly percent?: number;
}

/**
 * Measures the time in ms from before the transaction that writes an event until the receiver has its delivery, for `events`
 * events, one each `everyMs`.
 */
export async function timeOfDelivery(
  { db, redis }: TestTenant,
  receiver: Receiver,
  { events, everyMs, percent = 99 }: Pace,
): Promise<number> {
  const outbox = new Events({
    notifier: new WorkerNotifier({ redis, log: silentLogger }),
    clock: systemClock,
    random: systemRandom,
  });
  const begun = new Map<string, number>();
  const emit = async (id: string): Promise<void> => {
    const now = new Date().toISOString();
    const grade = { id, launch_id: 'l', user_id: 'u', score: 1, score_maximum: 1, timestamp: now, submitted_at: now };
    begun.set(id, performance.now());
    await db.transaction((tx) => outbox.emit(tx, 'grade.submitted', grade));
  };
  const started = performance.now();
  const emitting: Promise<void>[] = [];
  for (const at of range(events)) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, started + at * everyMs - performance.now())));
    emitting.push(emit(systemRandom.uuid()));
  }
  await Promise.all(emitting);
  const took = (): number[] =>
    receiver.received.flatMap(({ data, at }) => {
      const from = begun.get(String(data.id));
      return from === undefined ? [] : [at - from];
    });
  await waitFor(`${events} deliveries`, () => took().length >= events);
  return percentile(took(), percent);
}
