import { setTimeout as sleep } from 'node:timers/promises';
import { sqlState, translateError } from './errors.ts';

/** PostgreSQL, Appendix A: too_many_connections, for the role or the server. */
const TOO_MANY_CONNECTIONS = '53300';
/** A refused log-in costs Postgres a process, so log-ins are not tried more often. */
const PAUSE_MS = 50;

/**
 * Connects, and waits up to `limitMs` while Postgres has no free connection for the role. During a rollout, ending pods hold
 * connections beside the starting ones: a rollout counts one pod more than desired, and ending pods are not counted. Throws what
 * `connect` throws; once `signal` is aborted, it does not wait any longer.
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
