/**
 * The memory for collected bodies, shared by the whole process.
 *
 * Invariants: at most `most` bytes are taken, and at most a third of them by one owner, so that one sender's stalled bodies do
 * not exclude everyone else's.
 */
export class BodyBudget {
  readonly #most: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  /** `most` in bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  get taken(): number {
    return this.#total;
  }

  /** Returns false if the budget has too few bytes left; none is taken then. */
  take(owner: string, bytes: number): boolean {
    const own = (this.#taken.get(owner) ?? 0) + bytes;
    if (own > this.#most / 3 || this.#total + bytes > this.#most) return false;
    this.#taken.set(owner, own);
    this.#total += bytes;
    return true;
  }

  give(owner: string, bytes: number): void {
    const left = (this.#taken.get(owner) ?? 0) - bytes;
    if (left > 0) this.#taken.set(owner, left);
    else this.#taken.delete(owner);
    this.#total -= bytes;
  }
}
