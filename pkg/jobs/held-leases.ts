import type { Logger } from '../runtime/log.ts';
import type { Leased, LeasedRows } from '../store/postgres/leases.ts';

export interface HeldLease {
  /** Aborted when the lease has passed to another. */
  readonly lost: AbortSignal;
  /** Renewed no more. */
  letGo(): void;
}

/** The leases of one shard that this process works under, renewed together: one statement, however many there are. */
export class HeldLeases {
  readonly #ledger: LeasedRows<Leased>;
  readonly #seconds: number;
  readonly #everyMs: number;
  readonly #log: Logger;
  readonly #held = new Map<Leased, AbortController>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: { ledger: LeasedRows<Leased>; seconds: number; everyMs: number; log: Logger }) {
    this.#ledger = deps.ledger;
    this.#seconds = deps.seconds;
    this.#everyMs = deps.everyMs;
    this.#log = deps.log;
  }

  /** `row` was claimed just now. */
  hold(row: Leased): HeldLease {
    const lost = new AbortController();
    this.#held.set(row, lost);
    this.#timer ??= setInterval(() => void this.#renew(), this.#everyMs);
    return { lost: lost.signal, letGo: () => this.#letGo(row) };
  }

  #letGo(row: Leased): void {
    this.#held.delete(row);
    if (this.#held.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #renew(): Promise<void> {
    const rows = [...this.#held.keys()];
    try {
      const held = await this.#ledger.extend(rows, this.#seconds);
      rows.filter((_, at) => !held[at]).forEach((row) => this.#held.get(row)?.abort(new Error('the lease was lost')));
    } catch (error) {
      this.#log.debug({ err: error }, 'leases were not renewed');
    }
  }
}
