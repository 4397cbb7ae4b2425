import { median, percentile } from '../faults/latency.ts';
import type { TestTenant } from '../support/programs/server.ts';
import { inParallel, range, untilServed, waitFor } from '../support/wait.ts';
import type { TestPlatform } from '../support/programs/worker-platform.ts';
import { startWorkerProcess } from '../support/programs/worker-process.ts';
import { type Line, progress } from './measure.ts';

const BATCHES = 10;
const ITEMS = 10_000;
const OTHERS = 50;
const ROUNDS = 3;
const MOST_WAIT = 3;
const MOST_TOTAL = 1.1;
/** The large tenant's batches. */
const LIMIT_MS = 600_000;

type Person = Awaited<ReturnType<TestTenant['user']>>;

interface Side {
  readonly tenant: TestTenant;
  readonly person: Person;
  readonly files: readonly string[];
}

interface Round {
  /** p99, in ms, from a request to the end of its job, without and beside the large tenant. */
  readonly alone: number;
  readonly beside: number;
  /**
   * In s, from the first request to the end of the last job: of all together, and of the large tenant's first and then the
   * others'.
   */
  readonly total: number;
  readonly fifo: number;
}

/** A tenant requests a batch of 100,000 items, then 50 tenants one job each. */
export async function jobs(platform: TestPlatform): Promise<Line[]> {
  const worker = await startWorkerProcess(platform);
  try {
    const large = await sideOf(platform, BATCHES * ITEMS);
    const others: Side[] = [];
    for (const _ of range(OTHERS)) others.push(await sideOf(platform, 1));
    await run(others); // the programs warm up
    const rounds: Round[] = [];
    for (const at of range(ROUNDS)) {
      rounds.push(await measure(large, others));
      progress(`jobs: round ${at + 1} of ${ROUNDS}: ${JSON.stringify(rounds.at(-1))}`);
    }
    const of = (value: (round: Round) => number): number => median(rounds.map(value));
    const [alone, beside, total, fifo] = [of((r) => r.alone), of((r) => r.beside), of((r) => r.total), of((r) => r.fifo)];
    return [
      {
        what: `a job of each of ${OTHERS} tenants beside a batch of ${BATCHES * ITEMS} items, p99 of request → end`,
        ours: `${beside.toFixed(0)} ms`,
        control: `${alone.toFixed(0)} ms without the batch`,
        ratio: beside / alone,
        target: `≤ ${MOST_WAIT} ×`,
        met: beside / alone <= MOST_WAIT,
      },
      {
        what: 'all of them together, total time',
        ours: `${total.toFixed(1)} s`,
        control: `${fifo.toFixed(1)} s first in, first out`,
        ratio: total / fifo,
        target: `≤ ${MOST_TOTAL} ×`,
        met: total / fifo <= MOST_TOTAL,
      },
    ];
  } finally {
    await worker.end('SIGTERM');
  }
}

async function measure(large: Side, others: readonly Side[]): Promise<Round> {
  const first = performance.now();
  const ended = await requestLarge(large);
  await ended();
  const alone = await run(others);
  const fifo = (performance.now() - first) / 1_000;

  const second = performance.now();
  const endedBeside = await requestLarge(large);
  const beside = await run(others);
  await endedBeside();
  return { alone, beside, total: (performance.now() - second) / 1_000, fifo };
}

async function sideOf(platform: TestPlatform, count: number): Promise<Side> {
  const tenant = await platform.tenant();
  const person = await tenant.user();
  const files: string[] = [];
  for (let made = 0; made < count; made += ITEMS) {
    const rows = await tenant.db.query<{ id: string }>(
      `INSERT INTO files (uuid, name, path, owner_id, size, mime_type, extension)
       SELECT gen_random_uuid(), 'n' || n, '/n' || n, u.id, 0, 'text/plain', '' FROM users u, generate_series($2::int, $3::int) n
       WHERE u.uuid = $1
       RETURNING uuid AS id`,
      [person.user.id, made + 1, Math.min(count, made + ITEMS)],
    );
    files.push(...rows.map(({ id }) => id));
  }
  await tenant.db.query('ANALYZE files').catch(() => undefined);
  return { tenant, person, files };
}

let tags = 0;
async function batchOf({ person: { api } }: Side, files: readonly string[]): Promise<string> {
  const name = `tag ${(tags += 1)}`;
  const { id } = (await untilServed(() => api.post('/tags', { name }))).body;
  const items = files.map((file) => ({ type: 'file', id: file }));
  const reply = await untilServed(() => api.post('/batch', { operation: 'tag', items, arguments: { tag_id: id } }));
  if (reply.status !== 202) throw new Error(`POST /batch: ${reply.status} ${reply.body?.message}`);
  return reply.body.id;
}

/** Requests the large batch, and resolves once it runs. Gives what resolves at its end. */
async function requestLarge(large: Side): Promise<() => Promise<void>> {
  const { tenant, files } = large;
  for (const at of range(BATCHES)) await batchOf(large, files.slice(at * ITEMS, (at + 1) * ITEMS));
  const found = async (where: string): Promise<boolean> =>
    (await tenant.db.query(`SELECT FROM tasks WHERE ${where} LIMIT 1`)).length > 0;
  await waitFor('the large batch to begin', () => found('done > 0'));
  return async () => {
    await waitFor('the end of the large batch', async () => !(await found('ended_at IS NULL')), LIMIT_MS);
    const wrong = await tenant.db.query(`SELECT state, done, total, failed, error_code, error_message,
      (SELECT jsonb_agg(DISTINCT i.error_message) FROM task_items i WHERE i.task_id = t.id AND i.state = 'failed') AS items
      FROM tasks t WHERE state <> 'succeeded' OR failed > 0 OR done <> ${ITEMS}`);
    if (wrong.length > 0) throw new Error(`not done as wanted: ${JSON.stringify(wrong)}`);
    await tenant.db.query('DELETE FROM tasks');
    // Each file that has a tag counts to what a person may have; one at a time, since a role's statements have an end.
    for (const { id } of await tenant.db.query<{ id: number }>('SELECT id FROM tags'))
      await tenant.db.query('DELETE FROM tags WHERE id = $1', [id]);
  };
}

/** Runs one job of each at once. Returns the p99 of the time from request to end, in ms. */
async function run(others: readonly Side[]): Promise<number> {
  const ids = new Map<Side, string>();
  await inParallel(others, OTHERS, async (side) => void ids.set(side, await batchOf(side, side.files)));
  const took: number[] = [];
  for (const [{ tenant }, id] of ids) {
    const ms = await waitFor('the end of a job', async () => {
      const [task] = await tenant.db.query<{ ms: number | null }>(
        'SELECT extract(epoch FROM ended_at - created_at)::float8 * 1000 AS ms FROM tasks WHERE uuid = $1',
        [id],
      );
      return task?.ms ?? undefined;
    });
    took.push(ms);
  }
  return percentile(took, 99);
}
