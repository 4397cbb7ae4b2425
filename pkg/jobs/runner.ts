import { Worker } from 'bullmq';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Leased, LeasedRows, LeaseRef } from '../store/postgres/leases.ts';
import { Gather } from './gather.ts';
import { HeldLeases } from './held-leases.ts';
import type { Places } from './places.ts';
import { bullConnection, DRAIN_DELAY_SECONDS, type JobTicket, QUEUE_PREFIX } from './queue.ts';

/** A worker that died is missed after this; one that lives renews its leases four times as often. */
const LEASE_SECONDS = 4;
const RENEW_MS = (LEASE_SECONDS * 1000) / 4;
/** BullMQ would fail a job after some kills; here Postgres alone decides (design: BullMQ's traps). */
const NEVER_STALLED_OUT = 1_000_000;
const CLOSE_LIMIT_MS = 15_000;

/** Where the rows of one shard are worked on. */
export interface Bench<Row extends Leased> {
  readonly ledger: LeasedRows<Leased, Row>;
  /** Makes one attempt and writes what became of it, by the lease that `row` holds. `signal`: the lease was lost. */
  attempt(row: Row, signal: AbortSignal): Promise<void>;
  /** There is room in the tenant's window. */
  wake(): void;
}

interface ShardOfRunner<Row extends Leased> {
  readonly bench: Bench<Row>;
  readonly claims: Gather<LeaseRef, Row | null>;
  readonly leases: HeldLeases;
}

/**
 * Takes tickets and has their rows worked on.
 *
 * Invariant: nothing is done without the lease of that very attempt, and whoever lost it can neither finish nor fail the row.
 */
export class Runner<Row extends Leased> {
  readonly #shards: ReadonlyMap<string, ShardOfRunner<Row>>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #worker: Worker<JobTicket>;
  readonly #places: Places;
  readonly #disconnect: () => void;

  constructor(deps: {
    /** The queue's name. */
    name: string;
    places: Places;
    redisUrl: string;
    benches: ReadonlyMap<string, Bench<Row>>;
    clock: Clock;
    log: Logger;
  }) {
    const lease = { seconds: LEASE_SECONDS, everyMs: RENEW_MS, log: deps.log };
    this.#shards = new Map(
      [...deps.benches].map(([shard, bench]) => {
        const { ledger } = bench;
        const claims = new Gather((leases: readonly LeaseRef[]) => ledger.claim(leases, LEASE_SECONDS));
        return [shard, { bench, claims, leases: new HeldLeases({ ...lease, ledger }) }];
      }),
    );
    this.#places = deps.places;
    this.#clock = deps.clock;
    this.#log = deps.log;
    const connection = bullConnection(deps.redisUrl, deps.log);
    this.#disconnect = () => connection.disconnect();
    this.#worker = new Worker<JobTicket>(deps.name, (job) => this.#run(job.data), {
      connection,
      prefix: QUEUE_PREFIX,
      concurrency: deps.places.count,
      drainDelay: DRAIN_DELAY_SECONDS,
      runRetryDelay: 1_000,
      maxStalledCount: NEVER_STALLED_OUT,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#worker.on('error', (error) => deps.log.debug({ err: error }, 'the queue does not answer'));
  }

  /** Takes no new ticket and waits for the running ones, within a bound; what is then unfinished is taken by another. */
  async close(): Promise<void> {
    await Promise.race([this.#worker.close().catch(() => undefined), this.#clock.sleep(CLOSE_LIMIT_MS)]);
    this.#disconnect();
  }

  async #run(ticket: JobTicket): Promise<void> {
    const shard = this.#shards.get(ticket.shard);
    if (shard) await Promise.all(ticket.leases.map((lease) => this.#runOne(shard, lease)));
  }

  /** Never throws: a row's fate is written in Postgres, or it is taken again once its lease has run out. */
  async #runOne(shard: ShardOfRunner<Row>, lease: LeaseRef): Promise<void> {
    // Tickets come a while after their window was looked at; what it does not allow any more waits in Postgres.
    if (!this.#places.take(lease.tenant)) return this.#giveBack(shard.bench.ledger, lease);
    try {
      await this.#work(shard, lease);
    } catch (error) {
      this.#log.warn({ err: error, ...lease }, 'work is left to its next attempt');
    } finally {
      this.#places.leave(lease.tenant);
      shard.bench.wake();
    }
  }

  async #work({ bench, claims, leases }: ShardOfRunner<Row>, ref: LeaseRef): Promise<void> {
    const row = await claims.ask(ref);
    if (!row) return;
    const lease = leases.hold(row);
    await bench.attempt(row, lease.lost).finally(() => lease.letGo());
  }

  async #giveBack(ledger: LeasedRows<Leased>, { tenant, id, attempt }: LeaseRef): Promise<void> {
    const released = ledger.release({ tenant, id, attempts: attempt, fence: null });
    await released.catch((error: unknown) => this.#log.warn({ err: error, tenant, id }, 'work is left to its next lease'));
  }
}
