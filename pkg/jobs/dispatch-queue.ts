import { Queue } from 'bullmq';
import { Redis as Client } from 'ioredis';
import type { Logger } from '../runtime/log.ts';
import type { LeaseRef } from '../store/postgres/leases.ts';

/** The data of one BullMQ job: leases of one shard and one tenant, at least one. */
export interface LeaseBatch {
  readonly shard: string;
  readonly leases: readonly LeaseRef[];
}

export const QUEUE_PREFIX = 'bull';
/** A worker without a job blocks in Redis for this long at most. */
export const DRAIN_DELAY_SECONDS = 2;
/** With a frozen Redis every command ends after this. It is longer than the longest blocking command. */
const COMMAND_TIMEOUT_MS = 5_000;
const RECONNECT_MAX_MS = 1_000;

/** A connection for BullMQ, which requires unlimited retries; the time-out of a command bounds them instead. */
export function bullConnection(url: string, log: Logger): Client {
  const client = new Client(url, {
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: COMMAND_TIMEOUT_MS,
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), RECONNECT_MAX_MS),
  });
  client.on('error', (error) => log.debug({ err: error }, 'dispatch queue: no connection to Redis'));
  return client;
}

/** Carries lease batches from dispatchers to runners, by BullMQ. Postgres is the truth: Redis may lose all of them. */
export class DispatchQueue {
  readonly name: string;
  readonly #queue: Queue<LeaseBatch>;
  readonly #client: Client;

  constructor(deps: { name: string; url: string; log: Logger }) {
    this.name = deps.name;
    this.#client = bullConnection(deps.url, deps.log);
    this.#queue = new Queue<LeaseBatch>(deps.name, {
      connection: this.#client,
      prefix: QUEUE_PREFIX,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    this.#queue.on('error', (error) => deps.log.warn({ err: error }, 'dispatch queue: Redis does not answer'));
  }

  /** A batch that is in the queue already is not added again. */
  async add(batches: readonly LeaseBatch[]): Promise<void> {
    await this.#queue.addBulk(batches.map((batch) => ({ name: this.name, data: batch, opts: { jobId: idOf(batch) } })));
  }

  /** How many batches no runner has taken yet. */
  async waiting(): Promise<number> {
    return this.#queue.getWaitingCount();
  }

  async close(): Promise<void> {
    this.#client.disconnect();
    await this.#queue.close().catch(() => undefined);
  }
}

/** A lease is in one batch only, so its first lease identifies the batch, also after Redis has lost its counters. */
function idOf({ shard, leases: [first] }: LeaseBatch): string {
  if (!first) throw new TypeError('a batch without leases');
  return `${shard}.${first.tenant}.${first.id}-${first.attempt}`;
}

/**
 * Batches of at most `maxRows` rows each, the first batch of each tenant before the second of any. A job costs Redis three scripts, whatever the
 * number of its rows.
 */
export function leaseBatches(shard: string, leases: readonly LeaseRef[], maxRows: number): LeaseBatch[] {
  const batches: LeaseBatch[] = [];
  let left = [...Map.groupBy(leases, ({ tenant }) => tenant).values()];
  while (left.length > 0) {
    batches.push(...left.map((own) => ({ shard, leases: own.slice(0, maxRows) })));
    left = left.map((own) => own.slice(maxRows)).filter((own) => own.length > 0);
  }
  return batches;
}
