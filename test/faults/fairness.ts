import { startPlatform, type TestPlatform } from '../support/programs/worker-platform.ts';
import { startWorkerProcess } from '../support/programs/worker-process.ts';
import { freePort } from '../support/backends/ports.ts';
import { startReceiver } from '../support/fakes/receiver.ts';
import type { TestTenant } from '../support/programs/server.ts';
import { range, waitFor } from '../support/wait.ts';
import { addWebhook } from '../support/clients/webhooks.ts';
import { median, timeOfDelivery } from './latency.ts';

/**
 * How the neighbour's receiver is dead: `refuses`: nobody listens; `stalls`: it accepts each delivery and never answers, at the
 * same host as the quiet tenant's receiver.
 */
export type Death = 'refuses' | 'stalls';

/** In ms from the event to the receiver. */
export interface Round {
  readonly alone: number;
  readonly beside: number;
}

/** The median of the rounds. */
export interface Fairness extends Round {
  readonly rounds: readonly Round[];
}

export interface FairnessOptions {
  readonly waiting: number;
  readonly rounds: number;
  readonly death: Death;
  /** The percentile of a round's times that counts; default: 99. */
  readonly percent?: number;
  /** The number of such neighbours; 1 unless set. */
  readonly neighbours?: number;
  /** No further round is made after one that is so. */
  readonly until?: (round: Round) => boolean;
}

/**
 * Measures how long a tenant's events take to its receiver, by turns alone and beside neighbours that have `waiting` deliveries
 * each for a dead receiver.
 */
export async function measureFairness(options: FairnessOptions): Promise<Fairness> {
  const { waiting, rounds: wanted, death, percent = 99, neighbours = 1, until = () => false } = options;
  const pace = { events: 200, everyMs: 20, percent };
  const platform = await startPlatform({ durable: true });
  const receiver = await startReceiver();
  const nobody = `http://127.0.0.1:${await freePort()}/`;
  const worker = await startWorkerProcess(platform);
  try {
    const [quiet, busy] = await Promise.all([platform.tenant(), inTurn(neighbours, () => platform.tenant())]);
    await addWebhook(quiet, { url: receiver.url });
    const url = death === 'refuses' ? nobody : receiver.stallingUrl;
    const backlogs = busy.map((tenant): Backlog => ({ platform, tenant, url, waiting }));
    await timeOfDelivery(quiet, receiver, pace); // both programs warm up
    const rounds: Round[] = [];
    for (const _ of range(wanted)) {
      const alone = await timeOfDelivery(quiet, receiver, pace);
      await Promise.all(backlogs.map(pile));
      const round = { alone, beside: await timeOfDelivery(quiet, receiver, pace) };
      rounds.push(round);
      if (until(round)) break;
      await Promise.all(backlogs.map(clear));
    }
    return { alone: median(rounds.map(({ alone }) => alone)), beside: median(rounds.map(({ beside }) => beside)), rounds };
  } finally {
    await worker.end('SIGKILL');
    await receiver.close();
    await platform.stop();
  }
}

async function inTurn<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (const _ of range(count)) made.push(await make());
  return made;
}

interface Backlog {
  readonly platform: TestPlatform;
  readonly tenant: TestTenant;
  readonly url: string;
  readonly waiting: number;
}

/** So that a busy machine writes each statement's rows within the role's statement_timeout. */
const PILED_AT_ONCE = 10_000;

async function pile({ tenant, url, waiting, platform }: Backlog): Promise<void> {
  const endpoint = await addWebhook(tenant, { url });
  for (let left = waiting; left > 0; left -= PILED_AT_ONCE)
    await tenant.db.query(
      `WITH event AS (
       INSERT INTO carrel.events (uuid, event, payload)
       SELECT gen_random_uuid(), 'grade.submitted', '{"event":"grade.submitted","data":{}}' FROM generate_series(1, $1)
       RETURNING id
     )
     INSERT INTO carrel.deliveries (event_id, endpoint) SELECT id, $2 FROM event`,
      [Math.min(left, PILED_AT_ONCE), endpoint],
    );
  const tried = (): Promise<unknown[]> =>
    platform.pool.query(`SELECT FROM carrel.deliveries WHERE endpoint = $1 AND attempts > 0 LIMIT 1`, [endpoint]);
  await waitFor('the worker to meet the dead receiver', async () => (await tried()).length > 0);
}

async function clear({ platform, tenant }: Backlog): Promise<void> {
  await tenant.db.query('DELETE FROM webhooks');
  await platform.pool.query('DELETE FROM carrel.events WHERE tenant = $1', [`tenant_${tenant.slug}`]);
}
