import { Problem } from '../../../api/problem.ts';

export interface Turn {
  /** Aborted by the next request for the same upload. */
  readonly signal: AbortSignal;
  /** True if another request had its turn before this one, so that the upload may have changed. */
  readonly hasWaited: boolean;
}

/**
 * Runs the requests that send bytes of an upload to this server one at a time. Each may store as much as the upload has reserved,
 * and bytes that are stored but not yet added must be counted only once.
 *
 * Invariants:
 * - A newer request aborts the previous one, whose connection may be dead. It begins after that one has deleted what it stored.
 * - A request commits everything before the next one begins.
 */
export class UploadTurns {
  readonly #newest = new Map<string, { readonly next: AbortController; readonly ended: Promise<void> }>();

  /** Throws `conflict` if a newer request arrives while this one waits. */
  async run<T>(uuid: string, work: (turn: Turn) => Promise<T>): Promise<T> {
    const before = this.#newest.get(uuid);
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const own = { next: new AbortController(), ended };
    this.#newest.set(uuid, own);
    before?.next.abort(
      new Problem('conflict', 'Another request continued this upload. Ask for its offset (HEAD) and continue there.'),
    );
    try {
      await before?.ended;
      own.next.signal.throwIfAborted();
      return await work({ signal: own.next.signal, hasWaited: before !== undefined });
    } finally {
      if (this.#newest.get(uuid) === own) this.#newest.delete(uuid);
      resolve();
    }
  }
}
