import { StoreUnavailableError } from '../unavailable.ts';
import { MIB } from '../../runtime/bytes.ts';

/** The part of a reply that is read without asking: nearly every reply is shorter, and their number is bounded elsewhere. */
export const FREE_BYTES = 64 * 1024;
/** Less than the time limit of a reconcile or a query. */
const WAIT_LIMIT_MS = 8_000;

interface Waiting {
  readonly owner: string;
  readonly bytes: number;
  readonly resolve: () => void;
}

/**
 * The bytes that replies of stores named by tenants may take in this process.
 *
 * Invariants:
 * - At most `bytes` are taken, and no store has more than a third of them, except with a single reply.
 * - Replies wait in order, each until its store's share allows.
 */
export class ReplyBudget {
  readonly #bytes: number;
  readonly #waitLimitMs: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #sum = 0;

  constructor({ bytes, waitLimitMs = WAIT_LIMIT_MS }: { readonly bytes: number; readonly waitLimitMs?: number }) {
    this.#bytes = bytes;
    this.#waitLimitMs = waitLimitMs;
  }

  /** The number of bytes taken. */
  get taken(): number {
    return this.#sum;
  }

  /**
   * Takes bytes for a reply of the store `owner`; returns a function that releases them once. Throws StoreUnavailableError if
   * none are free for too long.
   */
  async take(owner: string, bytes: number): Promise<() => void> {
    if (!this.#fits(owner, bytes)) await this.#wait(owner, bytes);
    else this.#add(owner, bytes);
    let isHeld = true;
    return () => {
      if (isHeld) this.#release(owner, bytes);
      isHeld = false;
    };
  }

  async #wait(owner: string, bytes: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { owner, bytes, resolve };
    this.#waiting.add(waiting);
    const timer = setTimeout(() => {
      this.#waiting.delete(waiting);
      reject(new StoreUnavailableError('s3', new Error('too many large replies of stores at once')));
    }, this.#waitLimitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  #fits(owner: string, bytes: number): boolean {
    const own = this.#taken.get(owner) ?? 0;
    return this.#sum + bytes <= this.#bytes && (own === 0 || own + bytes <= this.#bytes / 3);
  }

  #add(owner: string, bytes: number): void {
    this.#sum += bytes;
    this.#taken.set(owner, (this.#taken.get(owner) ?? 0) + bytes);
  }

  #release(owner: string, bytes: number): void {
    this.#sum -= bytes;
    const own = (this.#taken.get(owner) ?? 0) - bytes;
    if (own > 0) this.#taken.set(owner, own);
    else this.#taken.delete(owner);
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.owner, waiting.bytes)) continue;
      this.#waiting.delete(waiting);
      this.#add(waiting.owner, waiting.bytes);
      waiting.resolve();
    }
  }
}

export const NAMED_STORE_REPLIES = new ReplyBudget({ bytes: 32 * MIB });
