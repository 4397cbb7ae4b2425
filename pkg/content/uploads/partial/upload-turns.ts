import { Problem } from '../../../api/problem.ts';

export interface Turn {
  /** Aborted by the next request for the same upload. */
  readonly signal: AbortSignal;
  /** True if another request had its turn meanwhile, so that the upload may have changed. */
  readonly hasWaited: boolean;
}

/**
 * The requests that send bytes of an upload to this server, one at a time: each may store as much as the upload has reserved, and
 * what is stored before it is added counts once.
 *
 * Invariants:
 * - A newer request ends the one before, whose connection may be dead, and begins when that has deleted what it stored.
 * - What a request commits, it commits before the next one begins.
 */
export class UploadTurns {
  readonly #newest = new Map<string, { readonly next: AbortController; readonly ended: Promise<void> }>();

  /** Throws `conflict` where a newer request comes while this one waits. */
  async run<T>(uuid: string, work: (turn: Turn) => Promise<T>): Promise<T> {
    const before = this.#newest.get(uuid);
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const own = { next: new AbortController(), ended };
    this.#newest.set(uuid, own);
    before?.next.abort(
      new Problem('conflict', 'Another request goes on with this upload. Ask for its offset (HEAD) and go on there.'),
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
