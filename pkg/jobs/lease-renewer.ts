import type { Logger } from '../runtime/log.ts';
import type { Leased, LeasedRows } from '../store/postgres/leases.ts';

export interface RenewedLease {
  /** Aborted when the lease has passed to another worker. */
  readonly lost: AbortSignal;
  /** Ends the renewal; the row itself does not change. */
  release(): void;
}

/** Renews all leases that this process holds in one shard with one statement. */
export class LeaseRenewer {
  readonly #store: LeasedRows<Leased>;
  readonly #seconds: number;
  readonly #everyMs: number;
  readonly #log: Logger;
  readonly #held = new Map<Leased, AbortController>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: { store: LeasedRows<Leased>; seconds: number; everyMs: number; log: Logger }) {
    this.#store = deps.store;
    this.#seconds = deps.seconds;
    this.#everyMs = deps.everyMs;
    this.#log = deps.log;
  }

  /** Renews the lease of `row`, which was claimed just now, until it is released. */
  renew(row: Leased): RenewedLease {
    const lost = new AbortController();
    this.#held.set(row, lost);
    this.#timer ??= setInterval(() => void this.#renewAll(), this.#everyMs);
    return { lost: lost.signal, release: () => this.#release(row) };
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
      rows.filter((_, at) => !held[at]).forEach((row) => this.#held.get(row)?.abort(new Error('the lease was lost')));
    } catch (error) {
      this.#log.debug({ err: error }, 'could not renew leases');
    }
  }
}
