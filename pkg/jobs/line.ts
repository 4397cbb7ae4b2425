import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Leased, LeasedRows } from '../store/postgres/leases.ts';
import type { Redis } from '../store/redis/redis.ts';
import { Feeder } from './feeder.ts';
import { Places } from './places.ts';
import { TicketQueue } from './queue.ts';
import { type Bench, Runner } from './runner.ts';

/** One kind of later work on its way from Postgres over a queue of its own to its runners. */
export interface Line {
  /** Looks for what is due at once. */
  wake(): void;
  /** Takes nothing new, lets what is under way end within a bound. */
  close(): Promise<void>;
}

/** A round under way at the end has so long. */
const LAST_ROUND_MS = 2_000;

interface LineDeps<Row extends Leased, Ledger extends LeasedRows<Leased, Row>> {
  /** The queue's name. */
  readonly name: string;
  /** Rows of one tenant in flight at most. */
  readonly perTenant: number;
  /** Rows of one tenant that go to a runner in one ticket, and so to one worker; 1 unless told. */
  readonly perTicket?: number;
  /** Attempts of this process under way at once. */
  readonly concurrency: number;
  /** By shard. */
  readonly ledgers: ReadonlyMap<string, Ledger>;
  bench(shard: string, ledger: Ledger, wake: () => void): Bench<Row>;
  readonly redis: Redis;
  readonly redisUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Feeds and runs it until it is closed. */
export function startLine<Row extends Leased, Ledger extends LeasedRows<Leased, Row>>(deps: LineDeps<Row, Ledger>): Line {
  const { name, perTicket = 1, redis, redisUrl, clock, log } = deps;
  const queue = new TicketQueue({ name, url: redisUrl, log });
  const places = new Places(deps.concurrency, deps.perTenant);
  const feeders = new Map(
    [...deps.ledgers].map(([shard, ledger]) => [shard, new Feeder({ shard, ledger, places, perTicket, queue, redis, clock, log })]),
  );
  const benches = new Map([...deps.ledgers].map(([shard, ledger]) => [shard, deps.bench(shard, ledger, () => feeders.get(shard)?.wake())]));
  const runner = new Runner<Row>({ name, places, redisUrl, benches, clock, log });

  const stopping = new AbortController();
  const feeding = Promise.all([...feeders.values()].map((feeder) => feeder.run(stopping.signal)));
  return {
    wake: () => feeders.forEach((feeder) => feeder.wake()),
    close: async () => {
      stopping.abort();
      // A round that waits for a Redis which never answered ends only with the queue.
      await Promise.race([feeding, clock.sleep(LAST_ROUND_MS)]);
      await runner.close();
      await queue.close();
    },
  };
}
