/**
 * The attempts that a worker may have under way at once in one line, and who has them.
 *
 * Invariant: a tenant may have `most` places while half of all are free, then the fewer the fuller it gets, and one as long as there is any. So
 * tenants whose receivers stall leave places to others, however many they are: of 512, 64 tenants hold five or six each, 400 tenants one.
 */
export class Places {
  readonly #count: number;
  readonly #most: number;
  readonly #taken = new Map<string, number>();
  #busy = 0;

  /** `most`: of one tenant. */
  constructor(count: number, most: number) {
    this.#count = count;
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  /** How many are left. */
  get free(): number {
    return this.#count - this.#busy;
  }

  /** How many places a tenant may have now. */
  get window(): number {
    return Math.max(1, Math.min(this.#most, Math.floor((2 * this.#most * this.free) / this.#count)));
  }

  /**
   * False: there is none left, or they are scarce and the tenant has its share. While they are not, who feeds keeps to the window, and a place
   * that is about to be left refuses nobody.
   */
  take(tenant: string): boolean {
    const taken = this.#taken.get(tenant) ?? 0;
    const { window } = this;
    if (this.free <= 0 || (window < this.#most && taken >= window)) return false;
    this.#taken.set(tenant, taken + 1);
    this.#busy += 1;
    return true;
  }

  /** Gives one of its places back. */
  leave(tenant: string): void {
    const taken = this.#taken.get(tenant) ?? 0;
    if (taken > 1) this.#taken.set(tenant, taken - 1);
    else this.#taken.delete(tenant);
    this.#busy -= 1;
  }
}
