import { ANSWER_TIMEOUT_MS } from './timeouts.ts';

/** What ends the request that makes an object. */
export interface Ends {
  /** Aborted when nobody needs the object any more. */
  readonly signal?: AbortSignal | undefined;
  /** Aborted when no more time may be spent on the store. */
  readonly until?: AbortSignal | undefined;
}

/**
 * Runs a request that makes an object. A store may finish a request that it has wholly received, although its sender has gone,
 * and so make an object that was deleted meanwhile. So a request that nobody needs any more has as long to end as a store has to
 * answer; `until` ends it at once. An object that a store makes even later stays until the sweep of its day.
 *
 * Throws the reason of the signal that is aborted, although the request may have made the object.
 */
export async function endingLate<T>({ signal, until }: Ends, request: (cut: AbortSignal) => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  until?.throwIfAborted();
  const cut = new AbortController();
  let late: NodeJS.Timeout | undefined;
  const cutNow = (): void => cut.abort(until?.reason);
  const cutLater = (): void => {
    late = setTimeout(() => cut.abort(signal?.reason), ANSWER_TIMEOUT_MS);
  };
  until?.addEventListener('abort', cutNow, { once: true });
  signal?.addEventListener('abort', cutLater, { once: true });
  try {
    const made = await request(cut.signal);
    signal?.throwIfAborted();
    return made;
  } catch (error) {
    signal?.throwIfAborted();
    until?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(late);
    until?.removeEventListener('abort', cutNow);
    signal?.removeEventListener('abort', cutLater);
  }
}
