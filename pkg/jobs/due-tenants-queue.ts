import { Queue } from 'bullmq';
import { Redis as Client } from 'ioredis';
import type { Logger } from '../runtime/log.ts';
import type { DueTenant } from '../store/postgres/leases.ts';

/**
 * The data of a BullMQ job: a tenant of a shard has due rows. It grants nothing; a worker that takes it leases the rows that are
 * due by then.
 */
export interface TenantJob {
  readonly shard: string;
  readonly tenant: string;
  /** The most rows to lease for this job. Jobs of other releases may lack it. */
  readonly most?: number;
}

export const QUEUE_PREFIX = 'bull';
/** A worker without a job blocks in Redis for this long at most. */
export const DRAIN_DELAY_SECONDS = 2;
/** If Redis is frozen, every command ends after this time. */
const COMMAND_TIMEOUT_MS = 5_000;
/**
 * For connections of a BullMQ worker. Usually the worker blocks for DRAIN_DELAY_SECONDS, but for 10 s after an error, and gives
 * up a second later. If a call ended sooner, its command would stay in Redis, take the next wake-up and lose it.
 */
export const BLOCKING_TIMEOUT_MS = 13_000;
const RECONNECT_MAX_MS = 1_000;

/** Opens a connection for BullMQ, which requires unlimited retries; the time-out of a command bounds them instead. */
export function bullConnection(url: string, log: Logger, timeoutMs = COMMAND_TIMEOUT_MS): Client {
  const client = new Client(url, {
    commandTimeout: timeoutMs,
    // Closes a connection on which an answer is overdue: behind a broken network nothing else would end it.
    socketTimeout: timeoutMs,
    connectTimeout: COMMAND_TIMEOUT_MS,
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), RECONNECT_MAX_MS),
  });
  client.on('error', (error) => log.debug({ err: error }, 'queue of due tenants: no connection to Redis'));
  return client;
}

/** Returns the BullMQ name of a queue of jobs. Workers of earlier releases used the bare name for jobs of another form. */
export const bullName = (queue: string): string => `due-${queue}`;

/** Spreads tenants with due rows over workers, by BullMQ. Postgres is the truth: Redis may lose all of them. */
export class DueTenantsQueue {
  readonly #queue: Queue<TenantJob>;
  readonly #client: Client;

  /** `name` is the name of the queue of jobs. */
  constructor(deps: { name: string; url: string; log: Logger }) {
    this.#client = bullConnection(deps.url, deps.log);
    this.#queue = new Queue<TenantJob>(bullName(deps.name), {
      connection: this.#client,
      prefix: QUEUE_PREFIX,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    this.#queue.on('error', (error) => deps.log.warn({ err: error }, 'queue of due tenants: Redis does not answer'));
  }

  /** Adds tenants in this order. Omits a tenant that is already queued for the same first row. */
  async add(shard: string, tenants: readonly DueTenant[], most: number): Promise<void> {
    if (tenants.length === 0) return;
    await this.#queue.addBulk(
      tenants.map(({ tenant, id, attempts }) => ({
        name: 'due',
        data: { shard, tenant, most },
        opts: { jobId: `${shard}.${tenant}.${id}-${attempts}` },
      })),
    );
  }

  /** Returns the number of jobs that no worker has taken yet. */
  async waiting(): Promise<number> {
    return this.#queue.getWaitingCount();
  }

  async close(): Promise<void> {
    this.#client.disconnect();
    await this.#queue.close().catch(() => undefined);
  }
}
