/**
 * The slots for attempts that one worker runs at once in one queue, and the number that each tenant holds.
 *
 * Invariant: a tenant may hold `perTenant` slots while at least half of all slots are free. Then it may hold fewer the fuller the
 * queue gets, and one while any slot is free. So tenants whose receivers stall leave slots to others, however many they are: of
 * 512 slots, 64 stalled tenants hold five or six each, 400 hold one.
 */
export class ConcurrencyLimiter {
  readonly #slots: number;
  readonly #perTenant: number;
  readonly #held = new Map<string, number>();
  #busy = 0;
  readonly #onFree = new Set<() => void>();

  /** `slots` is the number for all tenants together, `perTenant` the most of one tenant. */
  constructor(slots: number, perTenant: number) {
    this.#slots = slots;
    this.#perTenant = perTenant;
  }

  get slots(): number {
    return this.#slots;
  }

  get free(): number {
    return this.#slots - this.#busy;
  }

  /** The number of slots that one tenant may hold at present. */
  get tenantLimit(): number {
    return Math.max(1, Math.min(this.#perTenant, Math.floor((2 * this.#perTenant * this.free) / this.#slots)));
  }

  /** At least half of the slots are held, so a tenant's share is smaller than its limit. */
  get isScarce(): boolean {
    return this.tenantLimit < this.#perTenant;
  }

  /**
   * Returns the number of slots that each of `tenants` with due rows may take, so that each tenant's first row goes before many
   * rows of any.
   */
  shareOf(tenants: number): number {
    return Math.max(1, Math.min(this.tenantLimit, Math.floor(this.free / (2 * tenants))));
  }

  /** Takes up to `most` slots, while the tenant may have another. Returns the number taken. */
  reserve(tenant: string, most: number): number {
    const held = this.#held.get(tenant) ?? 0;
    let slots = 0;
    while (slots < most && this.free > 0 && held + slots < this.tenantLimit) {
      slots += 1;
      this.#busy += 1;
    }
    if (slots > 0) this.#held.set(tenant, held + slots);
    return slots;
  }

  /**
   * Calls `resume` once after the next release of slots, however often the caller passes it. Never calls it within the releasing
   * call.
   */
  onceFree(resume: () => void): void {
    this.#onFree.add(resume);
  }

  /** Releases `slots` of the tenant's slots. */
  release(tenant: string, slots = 1): void {
    const left = (this.#held.get(tenant) ?? 0) - slots;
    if (left > 0) this.#held.set(tenant, left);
    else this.#held.delete(tenant);
    this.#busy -= slots;
    if (slots === 0) return;
    for (const resume of this.#onFree) setImmediate(resume);
    this.#onFree.clear();
  }
}
