import { expect, test } from '@jest/globals';
import { range, waitFor } from '../support/wait.ts';
import { platformTenant, workerSuite } from '../support/suites/worker-suite.ts';
import { type Seeded, seeded } from './seeded.ts';

/** `make faults` cancels 200 batches of 10,000 items, each time at other points, and `SEED=… make faults` at the same again. */
const isLong = process.env.CANCELS !== undefined;
const CANCELS = Number(process.env.CANCELS ?? 4);
const ITEMS = isLong ? 10_000 : 1_500;
const SEED = Number(process.env.SEED ?? (isLong ? Date.now() % 1_000_000 : 1));
/** No item begins later than this after somebody asks for the end. */
const BOUND_MS = 1_000;
/** Every so many cancellations the worker is killed just before. */
const KILL_EVERY = 4;
/**
 * The short run stands beside whatever else the machine does, which may stand still for a while. Where cancellations wait for the
 * items, most are late.
 */
const LATE_MAX = isLong ? 0 : 1;
/** Jobs that work item by item take longer, so they are cancelled among their first items. */
const SLOW_POINTS = 300;
/** The jobs of one person have a million items at most. */
const ROUNDS_OF_A_PERSON = 50;
/** A role's statements have an end, which a busy machine comes near. */
const ROWS_OF_A_STATEMENT = 1_000;

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);
type Person = Awaited<ReturnType<typeof tenant.user>>;

interface Kind {
  readonly operation: string;
  readonly points: number;
  /** Makes what the operation needs, new for each batch. `done` counts the files that it changed. */
  make(person: Person, name: string): Promise<{ readonly given: object; done(): Promise<number> }>;
}

const count = async (sql: string, of: string): Promise<number> =>
  (await tenant.db.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${sql}`, [of]))[0]?.count ?? -1;

const KINDS: readonly Kind[] = [
  {
    operation: 'tag',
    points: ITEMS,
    make: async ({ api }, name) => {
      const { id } = (await api.post('/tags', { name })).body;
      return { given: { tag_id: id }, done: () => count('file_tags l JOIN tags t ON t.id = l.tag_id WHERE t.uuid = $1', id) };
    },
  },
  {
    operation: 'set_metadata',
    points: ITEMS,
    make: async (_person, name) => ({
      given: { key: name, value: 'v' },
      done: () => count('file_metadata WHERE key = $1', name),
    }),
  },
  {
    operation: 'grant',
    points: SLOW_POINTS,
    make: async () => {
      const { user } = await tenant.user();
      return {
        given: { user_id: user.id, permission_level: 'read' },
        done: () => count('permissions p JOIN users u ON u.id = p.user_id WHERE u.uuid = $1', user.id),
      };
    },
  },
];

test(
  `of ${CANCELS} batches of ${ITEMS} items that are cancelled anywhere, no item begins 1 s later, and the counts are ` +
    `exact (SEED=${SEED})`,
  async () => {
    const random = seeded(SEED);
    const tookMs: number[] = [];
    let [person, items] = await personWithFiles();
    for (const round of range(CANCELS)) {
      if (round > 0 && round % ROUNDS_OF_A_PERSON === 0) [person, items] = await personWithFiles();
      const kind = KINDS[round % KINDS.length] as Kind;
      tookMs.push(await cancelOne(random, person, items, kind, `k${round}`, round % KILL_EVERY === KILL_EVERY - 1));
    }
    process.stderr.write(`  ${CANCELS} cancellations, SEED=${SEED}: the slowest took ${Math.round(Math.max(...tookMs))} ms\n`);
    const late = tookMs.filter((ms) => ms > BOUND_MS);
    expect({ SEED, late: late.slice(LATE_MAX) }).toEqual({ SEED, late: [] });
  },
  120_000 + CANCELS * 60_000,
);

/** Gives how long the request to cancel took: an item begins before its reply, or not at all. */
async function cancelOne(
  random: Seeded,
  person: Person,
  items: readonly object[],
  { operation, points, make }: Kind,
  name: string,
  isKilled: boolean,
): Promise<number> {
  const { given, done } = await make(person, name);
  const { body: job } = await person.api.post('/batch', { operation, items, arguments: given });
  const point = random.between(0, Math.min(points, ITEMS - 1));
  const read = async () => (await person.api.get(`/jobs/${job.id}`)).body;
  await waitFor('so many items', async () => (await read()).progress.done >= point);
  if (isKilled) await worker.end('SIGKILL');
  const asked = performance.now();
  const { status, body: canceled } = await person.api.post(`/jobs/${job.id}/cancel`);
  const tookMs = performance.now() - asked;
  if (status === 409) return cancelledTooLate(job.id, isKilled);
  expect([status, canceled.state]).toEqual([202, 'canceled']);
  expect([operation, await done(), canceled.progress.failed]).toEqual([operation, canceled.progress.done, 0]);

  if (isKilled) await worker.start();
  await waitFor('the worker to be idle', async () => (await waiting()).length === 0);
  expect([operation, await done()]).toEqual([operation, canceled.progress.done]);
  expect((await read()).progress).toEqual(canceled.progress);
  const [states] = await tenant.db.query(
    `SELECT count(*) FILTER (WHERE i.state = 'succeeded')::int AS succeeded,
       count(*) FILTER (WHERE i.state = 'queued')::int AS queued
     FROM task_items i JOIN tasks t ON t.id = i.task_id WHERE t.uuid = $1`,
    [job.id],
  );
  expect(states).toEqual({ succeeded: canceled.progress.done, queued: ITEMS - canceled.progress.done });
  return tookMs;
}

/** It had ended by itself. */
async function cancelledTooLate(id: string, isKilled: boolean): Promise<number> {
  if (isKilled) await worker.start();
  const [task] = await tenant.db.query<{ state: string; done: number }>('SELECT state, done FROM tasks WHERE uuid = $1', [id]);
  expect(task).toEqual({ state: 'succeeded', done: ITEMS });
  return 0;
}

/** Files as rows. */
async function personWithFiles(): Promise<[Person, { type: 'file'; id: string }[]]> {
  const person = await tenant.user({ storage_quota: 2 ** 40 });
  const ids: string[] = [];
  while (ids.length < ITEMS) {
    const rows = await tenant.db.query<{ id: string }>(
      `INSERT INTO files (uuid, name, path, owner_id, size, mime_type, extension)
       SELECT gen_random_uuid(), 'n' || n, '/n' || n, u.id, 0, 'text/plain', '' FROM users u, generate_series($2::int, $3::int) n
       WHERE u.uuid = $1
       RETURNING uuid AS id`,
      [person.user.id, ids.length + 1, Math.min(ids.length + ROWS_OF_A_STATEMENT, ITEMS)],
    );
    ids.push(...rows.map(({ id }) => id));
  }
  return [person, ids.map((id) => ({ type: 'file', id }))];
}

const waiting = () => tenant.db.query("SELECT FROM carrel.work WHERE kind = 'tasks.batch'");
