import { Queue } from 'bullmq';
import { Redis as Client } from 'ioredis';
import type { Logger } from '../runtime/log.ts';
import type { LeaseRef } from '../store/postgres/leases.ts';

/** Which rows of which shard a job is about: one at least, all of one tenant. */
export interface JobTicket {
  readonly shard: string;
  readonly leases: readonly LeaseRef[];
}

export const QUEUE_PREFIX = 'bull';
/** A worker without a job blocks in Redis for so long at most. */
export const DRAIN_DELAY_SECONDS = 2;
/** On a Redis that is frozen every command ends after this; longer than the longest that blocks. */
const COMMAND_TIMEOUT_MS = 5_000;
const RECONNECT_MAX_MS = 1_000;

/** A connection for BullMQ, which wants one without a bound on retries; that bound is the command's time-out. */
export function bullConnection(url: string, log: Logger): Client {
  const client = new Client(url, {
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: COMMAND_TIMEOUT_MS,
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), RECONNECT_MAX_MS),
  });
  client.on('error', (error) => log.debug({ err: error }, 'the queue has no Redis'));
  return client;
}

/** The way of work from feeders to runners. Postgres is the truth: Redis may lose all of it. */
export class TicketQueue {
  readonly name: string;
  readonly #queue: Queue<JobTicket>;
  readonly #client: Client;

  constructor(deps: { name: string; url: string; log: Logger }) {
    this.name = deps.name;
    this.#client = bullConnection(deps.url, deps.log);
    this.#queue = new Queue<JobTicket>(deps.name, {
      connection: this.#client,
      prefix: QUEUE_PREFIX,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    this.#queue.on('error', (error) => deps.log.warn({ err: error }, 'the queue does not answer'));
  }

  /** A ticket that is there already is not added again. */
  async add(tickets: readonly JobTicket[]): Promise<void> {
    await this.#queue.addBulk(tickets.map((ticket) => ({ name: this.name, data: ticket, opts: { jobId: idOf(ticket) } })));
  }

  /** Tickets that no runner has begun with. */
  async waiting(): Promise<number> {
    return this.#queue.getWaitingCount();
  }

  async close(): Promise<void> {
    this.#client.disconnect();
    await this.#queue.close().catch(() => undefined);
  }
}

/** A lease is in one ticket only, so its first names it; also where Redis has forgotten how far it had counted. */
function idOf({ shard, leases: [first] }: JobTicket): string {
  if (!first) throw new TypeError('a ticket without rows');
  return `${shard}.${first.tenant}.${first.id}-${first.attempt}`;
}

/** Tickets of at most `most` rows each, the first of each tenant before the second of any. A job costs Redis three scripts, however many its rows. */
export function ticketsOf(shard: string, leases: readonly LeaseRef[], most: number): JobTicket[] {
  const tickets: JobTicket[] = [];
  let left = [...Map.groupBy(leases, ({ tenant }) => tenant).values()];
  while (left.length > 0) {
    tickets.push(...left.map((own) => ({ shard, leases: own.slice(0, most) })));
    left = left.map((own) => own.slice(most)).filter((own) => own.length > 0);
  }
  return tickets;
}
