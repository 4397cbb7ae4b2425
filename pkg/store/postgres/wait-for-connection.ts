import { setTimeout as sleep } from 'node:timers/promises';
import { sqlState, translateError } from './errors.ts';

/** PostgreSQL, Appendix A: too_many_connections, of the role or of the server. */
const TOO_MANY_CONNECTIONS = '53300';
/** A refused log-in costs Postgres a process, so it is not tried more often. */
const PAUSE_MS = 50;

/**
 * Connects, and waits up to `limitMs` while Postgres has no connection free for the role. During a rollout the pods that end hold
 * connections beside those that start: a rollout counts one pod more than the wanted ones, and an ending pod is none of them.
 * Throws what `connect` throws; after `signal`, without waiting on.
 */
export async function whenFree<T>(
  connect: () => Promise<T>,
  { limitMs, signal }: { limitMs: number; signal: AbortSignal },
): Promise<T> {
  const until = performance.now() + limitMs;
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      const isOver = signal.aborted || performance.now() + PAUSE_MS > until;
      if (isOver || sqlState(translateError(error)) !== TOO_MANY_CONNECTIONS) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
