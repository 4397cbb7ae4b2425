/**
 * What bodies that are collected may hold in memory, all of a process together.
 *
 * Invariants: never more than `most` bytes are taken, and by one owner never more than a third of them, so that nobody's bodies
 * that stand still keep out everybody else's.
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

  /** False: the budget does not have that many bytes left; none is taken. */
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
