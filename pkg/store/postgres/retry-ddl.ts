import { backOffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { LockTimeout, SerializationFailure, sqlState } from './errors.ts';

/** How often a transaction of DDL is tried: each attempt waits for a lock for some seconds only. */
const ATTEMPTS = 6;
const BACK_OFF = { baseMs: 200, maxMs: 5_000, jitter: 0.5 };

/** "duplicate object", "duplicate table", "tuple concurrently updated": two operators did the same thing at once. */
const RACED = new Set(['42710', '42P06', '42P07', 'XX000']);

/**
 * Retries a transaction of DDL that did not get a lock, was the victim of a deadlock, or collided with the same work of another
 * operator.
 */
export async function retryDdl<T>(
  time: { clock: Clock; random: Random },
  attempt: () => Promise<T>,
  attempts = ATTEMPTS,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const again = error instanceof LockTimeout || error instanceof SerializationFailure || isRace(error);
      if (!again || tries >= attempts) throw error;
      await time.clock.sleep(backOffMs(BACK_OFF, tries, time.random));
    }
  }
}

/** A unique index of the system catalogs is violated only if two operators made the same thing. */
const isRace = (error: unknown): boolean => {
  const table = (error as { table?: string }).table ?? '';
  return RACED.has(sqlState(error) ?? '') || (sqlState(error) === '23505' && table.startsWith('pg_'));
};
