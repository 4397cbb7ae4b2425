import type { Logger } from '../runtime/log.ts';
import type { Leased, LeasedRows } from '../store/postgres/leases.ts';

/** The rows of a dead worker are free after this time; a living worker renews its leases four times as often. */
export const LEASE_SECONDS = 4;
export const RENEW_MS = (LEASE_SECONDS * 1000) / 4;

/** Most leases are never lost, and a row that waits needs no signal: the first look at it makes one. */
export class RenewedLease {
  readonly #release: () => void;
  #lost: AbortController | undefined;
  #isLost = false;

  /** `release` ends the renewal; the row itself does not change. */
  constructor(release: () => void) {
    this.#release = release;
  }

  /** Aborted when the lease has passed to another worker. */
  get lost(): AbortSignal {
    if (!this.#lost) {
      this.#lost = new AbortController();
      if (this.#isLost) this.lose();
    }
    return this.#lost.signal;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  lose(): void {
    this.#isLost = true;
    this.#lost?.abort(new Error('the lease was lost'));
  }

  release(): void {
    this.#release();
  }
}

/** Renews all leases that this process holds in one shard with one statement. */
export class LeaseRenewer {
  readonly #store: LeasedRows<Leased>;
  readonly #seconds: number;
  readonly #everyMs: number;
  readonly #log: Logger;
  readonly #held = new Map<Leased, RenewedLease>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: { store: LeasedRows<Leased>; seconds: number; everyMs: number; log: Logger }) {
    this.#store = deps.store;
    this.#seconds = deps.seconds;
    this.#everyMs = deps.everyMs;
    this.#log = deps.log;
  }

  /** Renews the lease of `row`, which was claimed just now, until it is released. */
  renew(row: Leased): RenewedLease {
    const lease = new RenewedLease(() => this.#release(row));
    this.#held.set(row, lease);
    this.#timer ??= setInterval(() => void this.#renewAll(), this.#everyMs);
    return lease;
  }

  #release(row: Leased): void {
    this.#held.delete(row);
    if (this.#held.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #renewAll(): Promise<void> {
    const rows = [...this.#held.keys()];
    try {
      const held = await this.#store.extend(rows, this.#seconds);
      rows.filter((_, at) => !held[at]).forEach((row) => this.#held.get(row)?.lose());
    } catch (error) {
      this.#log.debug({ err: error }, 'could not renew leases');
    }
  }
}
