import { sleepUnlessAborted } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Leased, LeasedRows } from '../store/postgres/leases.ts';
import type { ConcurrencyLimiter } from './concurrency-limiter.ts';
import type { DueTenantsQueue } from './due-tenants-queue.ts';
import type { Watchdog } from './watchdog.ts';

/** The dispatcher looks for due rows at least this often, however many wake-ups are lost. */
export const SWEEP_MS = 1_000;
/** Rounds begin at least this far apart, so wake-ups that come close together share one. */
const APART_MS = 5;
/**
 * The distance doubles up to this after each consecutive round that a wake-up began and that found nothing. A tenant may publish
 * as many wake-ups as it likes.
 */
const IDLE_APART_MS = 100;
/** Tenants that may wait in Redis: enough to keep workers busy, few enough that the first to wait is served first. */
const MAX_WAITING = 64;
/** Time until a full queue is checked again: workers take its jobs within milliseconds. */
const FULL_MS = 20;

/** The rows that a round found and this worker could take. `full`: no more tenants may wait in Redis. */
type Found = 'nothing' | 'some' | 'full';

/**
 * Finds the tenants of one shard that have due rows, and has workers take them (docs/design/events-and-jobs.md). It changes
 * nothing in Postgres: if a job is lost for any reason, the next round finds its tenant again.
 */
export class Dispatcher {
  readonly #shard: string;
  readonly #store: Pick<LeasedRows<Leased>, 'dueTenants'>;
  readonly #limiter: ConcurrencyLimiter;
  readonly #queue: DueTenantsQueue;
  readonly #watchdog: Pick<Watchdog, 'found'>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onFree = (): void => this.wake();
  #wake: () => void = () => undefined;
  #woken = false;

  constructor(deps: {
    shard: string;
    store: Pick<LeasedRows<Leased>, 'dueTenants'>;
    limiter: ConcurrencyLimiter;
    queue: DueTenantsQueue;
    watchdog: Pick<Watchdog, 'found'>;
    clock: Clock;
    log: Logger;
  }) {
    this.#shard = deps.shard;
    this.#store = deps.store;
    this.#limiter = deps.limiter;
    this.#queue = deps.queue;
    this.#watchdog = deps.watchdog;
    this.#clock = deps.clock;
    this.#log = deps.log.child({ shard: deps.shard });
  }

  /** Starts a round at once. */
  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  /** Resolves once the signal is aborted and the running round has ended. */
  async run(signal: AbortSignal): Promise<void> {
    let apartMs = APART_MS;
    while (!signal.aborted) {
      const isWoken = this.#woken;
      this.#woken = false;
      const begun = this.#clock.monotonic();
      let pauseMs = SWEEP_MS;
      let found: Found = 'nothing';
      try {
        found = await this.#round();
        if (found === 'full') pauseMs = FULL_MS;
      } catch (error) {
        this.#log.warn({ err: error }, 'dispatch round failed; the next round retries');
      }
      this.#watchdog.found(this.#shard, found !== 'nothing');
      apartMs = found === 'nothing' && isWoken ? Math.min(2 * apartMs, IDLE_APART_MS) : APART_MS;
      await sleepUnlessAborted(this.#clock, Math.max(0, begun + apartMs - this.#clock.monotonic()), signal);
      await this.#pause(pauseMs, signal);
    }
  }

  async #round(): Promise<Found> {
    // Other workers may have free slots: rows that this worker has no slot for are left to their rounds. Slots held for rows that
    // are not due are released at once, so what this round leaves does not wait for a sweep.
    if (this.#limiter.free === 0) {
      this.#limiter.onceFree(this.#onFree);
      return 'nothing';
    }
    const most = MAX_WAITING - (await this.#queue.waiting());
    if (most <= 0) return 'full';
    const due = await this.#store.dueTenants({ limit: this.#limiter.slots, perTenant: this.#limiter.tenantLimit });
    await this.#queue.add(this.#shard, due.slice(0, most), this.#limiter.shareOf(due.length));
    // The other tenants follow as soon as workers have taken these.
    if (most < due.length) this.#woken = true;
    return due.length > 0 ? 'some' : 'nothing';
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#woken || signal.aborted) return;
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    await sleepUnlessAborted(this.#clock, ms, woken.signal);
    signal.removeEventListener('abort', wake);
    this.#wake = () => undefined;
  }
}
