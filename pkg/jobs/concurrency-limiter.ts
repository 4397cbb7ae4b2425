/**
 * The slots for attempts that one worker runs at once in one queue, and which tenant holds how many.
 *
 * Invariant: a tenant may hold `perTenant` slots while at least half of all slots are free, then fewer the fuller the queue gets, and one as long
 * as any slot is free. So tenants whose receivers stall leave slots to others, however many they are: of 512 slots, 64 stalled tenants hold five or
 * six each, 400 hold one.
 */
export class ConcurrencyLimiter {
  readonly #slots: number;
  readonly #perTenant: number;
  readonly #held = new Map<string, number>();
  #busy = 0;

  /** `slots`: of all tenants together; `perTenant`: the most of one tenant. */
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

  /** How many slots one tenant may hold at present. */
  get tenantLimit(): number {
    return Math.max(1, Math.min(this.#perTenant, Math.floor((2 * this.#perTenant * this.free) / this.#slots)));
  }

  /**
   * False: no slot is free, or slots are scarce and the tenant holds its share. While slots are not scarce only the dispatcher enforces the limit
   * per tenant, so a slot that is about to be released does not reject a job.
   */
  acquire(tenant: string): boolean {
    const held = this.#held.get(tenant) ?? 0;
    const { tenantLimit } = this;
    if (this.free <= 0 || (tenantLimit < this.#perTenant && held >= tenantLimit)) return false;
    this.#held.set(tenant, held + 1);
    this.#busy += 1;
    return true;
  }

  /** Releases one of the tenant's slots. */
  release(tenant: string): void {
    const held = this.#held.get(tenant) ?? 0;
    if (held > 1) this.#held.set(tenant, held - 1);
    else this.#held.delete(tenant);
    this.#busy -= 1;
  }
}
