import { StoreUnavailableError } from '../unavailable.ts';

/** Shorter than the HTTP server's silence time-out, since a waiting upload does not read from its connection. */
const WAIT_LIMIT_MS = 90_000;

interface Waiting {
  readonly owner: string;
  readonly resolve: (buffer: Buffer) => void;
}

/**
 * Buffers of one size that uploads share, so that their memory is bounded however many there are.
 *
 * Invariants:
 * - At most `most` are in use, and no owner has more than a third of them: one user's stalled uploads do not block those of
 *   others.
 * - Waiting owners are served in order, each as soon as its share allows.
 */
export class BufferPool {
  readonly size: number;
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #maxIdle: number;
  readonly #waitLimitMs: number;
  readonly #idle: Buffer[] = [];
  readonly #inUse = new Map<Buffer, string>();
  readonly #waiting = new Set<Waiting>();

  /** `size` is in bytes; `maxIdle` is the number of unused buffers that stay allocated. */
  constructor(options: { size: number; most: number; maxIdle: number; waitLimitMs?: number }) {
    this.size = options.size;
    this.#most = options.most;
    this.#mostOfOne = Math.ceil(options.most / 3);
    this.#maxIdle = options.maxIdle;
    this.#waitLimitMs = options.waitLimitMs ?? WAIT_LIMIT_MS;
  }

  /** Buffers in use. */
  get inUse(): number {
    return this.#inUse.size;
  }

  /** Waiting requests. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Throws StoreUnavailableError if none is free for too long, or the signal's reason. The buffer is not cleared. */
  async take(owner: string, signal: AbortSignal): Promise<Buffer> {
    signal.throwIfAborted();
    if (this.#mayHave(owner)) return this.#hand(owner);
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const waiting = { owner, resolve };
    this.#waiting.add(waiting);
    const leave = (reason: unknown): void => {
      if (this.#waiting.delete(waiting)) reject(reason);
    };
    const onAbort = (): void => leave(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(
      () => leave(new StoreUnavailableError('s3', new Error('too many uploads at once'))),
      this.#waitLimitMs,
    );
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Returns a buffer; ignores one that is not of this pool or was already returned. */
  give(buffer: Buffer): void {
    if (!this.#inUse.delete(buffer)) return;
    this.#idle.push(buffer);
    for (const waiting of this.#waiting) {
      if (!this.#mayHave(waiting.owner)) continue;
      this.#waiting.delete(waiting);
      waiting.resolve(this.#hand(waiting.owner));
    }
    this.#idle.splice(this.#maxIdle);
  }

  #mayHave(owner: string): boolean {
    if (this.#inUse.size >= this.#most) return false;
    let has = 0;
    for (const other of this.#inUse.values()) if (other === owner) has += 1;
    return has < this.#mostOfOne;
  }

  #hand(owner: string): Buffer {
    const buffer = this.#idle.pop() ?? Buffer.allocUnsafeSlow(this.size);
    this.#inUse.set(buffer, owner);
    return buffer;
  }
}
