import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Leased, LeasedRows } from '../store/postgres/leases.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { Places } from './places.ts';
import { QUEUE_PREFIX, type TicketQueue, ticketsOf } from './queue.ts';

/** Work is looked for at least so often, whatever wake-ups get lost. */
const SWEEP_MS = 1_000;
/** Rounds begin so far apart at least: a busy time's wake-ups share them. */
const APART_MS = 5;
/** Tickets that may wait in Redis, and rows taken at once: enough to keep runners busy, few enough to be worked off within their lease. */
const MAX_WAITING = 64;
/**
 * How long a ticket may wait in Redis before its row is taken anew; the old one then does nothing.
 * Together with SWEEP_MS: what a dead worker took with it goes on within 5 s (design: section 13).
 */
const TICKET_LEASE_SECONDS = 4;

/**
 * Takes what is due in one shard and hands tickets to the runners (design: section 7).
 *
 * Invariants:
 * - Postgres is the truth: a ticket that is lost, in whatever way, is made again once its lease has run out;
 *   when Redis has lost its memory, at the next round.
 * - Several feeders share a shard: `FOR UPDATE SKIP LOCKED` and the lease keep them apart.
 */
export class Feeder {
  readonly #shard: string;
  readonly #ledger: LeasedRows<Leased>;
  readonly #places: Places;
  readonly #perTicket: number;
  readonly #queue: TicketQueue;
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #log: Logger;
  #wake: () => void = () => undefined;
  #woken = false;

  constructor(deps: {
    shard: string;
    ledger: LeasedRows<Leased>;
    /** Their window bounds what one tenant has in flight: a backlog of one waits for itself, not for others. */
    places: Places;
    /** Rows of one tenant that go together. */
    perTicket: number;
    queue: TicketQueue;
    redis: Redis;
    clock: Clock;
    log: Logger;
  }) {
    this.#shard = deps.shard;
    this.#ledger = deps.ledger;
    this.#places = deps.places;
    this.#perTicket = deps.perTicket;
    this.#queue = deps.queue;
    this.#redis = deps.redis;
    this.#clock = deps.clock;
    this.#log = deps.log.child({ shard: deps.shard });
  }

  /** Looks for work at once. */
  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  /** Resolves once the signal is aborted and the round under way is over. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#woken = false;
      const begun = this.#clock.monotonic();
      try {
        await this.#round();
      } catch (error) {
        this.#log.warn({ err: error }, 'a round of the feeder failed; the next one goes on');
      }
      await this.#clock.sleep(Math.max(0, begun + APART_MS - this.#clock.monotonic()), signal).catch(() => undefined);
      await this.#pause(signal);
    }
  }

  async #round(): Promise<void> {
    const [waiting] = await Promise.all([this.#queue.waiting(), this.#noticeLostMemory()]);
    // Of rows for which no place is left somebody else may have some.
    const room = Math.min(MAX_WAITING - waiting, this.#places.free);
    if (room <= 0) return;
    const items = await this.#ledger.takeDue({ limit: room, perTenant: this.#places.window, leaseSeconds: TICKET_LEASE_SECONDS });
    if (items.length === 0) return;
    try {
      const leases = items.map(({ tenant, id, attempts }) => ({ tenant, id, attempt: attempts }));
      await this.#queue.add(ticketsOf(this.#shard, leases, this.#perTicket));
    } catch (error) {
      for (const item of items) await this.#ledger.release(item);
      throw error;
    }
  }

  /** Redis was flushed or began empty: the tickets of all present leases are gone, so the leases are given back. */
  async #noticeLostMemory(): Promise<void> {
    const [isNew] = await this.#redis.run([['set', `${QUEUE_PREFIX}:memory:${this.#queue.name}:${this.#shard}`, '1', 'NX']]);
    if (isNew === 'OK') await this.#ledger.releaseAll();
  }

  async #pause(signal: AbortSignal): Promise<void> {
    if (this.#woken || signal.aborted) return;
    const until = new AbortController();
    this.#wake = () => until.abort();
    const onStop = (): void => until.abort();
    signal.addEventListener('abort', onStop, { once: true });
    await this.#clock.sleep(SWEEP_MS, until.signal).catch(() => undefined);
    signal.removeEventListener('abort', onStop);
    this.#wake = () => undefined;
  }
}
