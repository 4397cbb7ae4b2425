import { expect, test } from '@jest/globals';
import { range, waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);
const COUNT = 600;
/** So many that the rest of them takes seconds, in which a busy machine cancels. */
const CANCELED_COUNT = 4_000;

type Person = Awaited<ReturnType<typeof tenant.user>>;

/** Inserts files of a person, as rows. */
const filesOf = async ({ user }: Person, count: number): Promise<{ type: 'file'; id: string }[]> => {
  const ids: string[] = [];
  for (let from = 1; from <= count; from += 500) {
    const rows = await tenant.db.query<{ id: string }>(
      `INSERT INTO files (uuid, name, path, owner_id, size, mime_type, extension)
       SELECT gen_random_uuid(), 'n' || n, '/n' || n, u.id, 0, 'text/plain', '' FROM users u, generate_series($2::int, $3::int) n
       WHERE u.uuid = $1
       RETURNING uuid AS id`,
      [user.id, from, Math.min(count, from + 499)],
    );
    ids.push(...rows.map(({ id }) => id));
  }
  return ids.map((id) => ({ type: 'file', id }));
};

const jobOf = async ({ api }: Person, id: string) => (await api.get(`/jobs/${id}`)).body;
test('no item begins after a batch is cancelled, the counts are exact, and no retry tries the rest', async () => {
  for (const after of [0, 1, 100, 250]) {
    const person = await tenant.user();
    const request = {
      operation: 'set_metadata',
      items: await filesOf(person, CANCELED_COUNT),
      arguments: { key: 'k', value: 'v' },
    };
    const { body: job } = await person.api.post('/batch', request);
    await waitFor('so many items', async () => (await jobOf(person, job.id)).progress.done >= after);
    const canceled = await person.api.post(`/jobs/${job.id}/cancel`);
    const at = await describedOf(person);

    expect(canceled).toMatchObject({ status: 202, body: { state: 'canceled', progress: { done: at, failed: 0, skipped: 0 } } });
    await waitFor('the worker to be idle', async () => (await waiting()).length === 0);
    expect([await describedOf(person), (await jobOf(person, job.id)).progress.done]).toEqual([at, at]);
    expect((await person.api.post(`/jobs/${job.id}/cancel`)).status).toBe(409);
    expect((await person.api.post(`/jobs/${job.id}/retry`)).status).toBe(409);
  }
});

test('a batch whose worker is killed at some of its items goes on with the one that it was on, and does none twice', async () => {
  const person = await tenant.user();
  const items = await filesOf(person, COUNT);
  const { body: tag } = await person.api.post('/tags', { name: 'once' });
  const { body: job } = await person.api.post('/batch', { operation: 'tag', items, arguments: { tag_id: tag.id } });
  for (const after of range(3).map((n) => 50 + n * 150)) {
    await waitFor('so many items', async () => (await jobOf(person, job.id)).progress.done >= after);
    await worker.end('SIGKILL');
    // In one look: what the worker had sent to Postgres may still be committed.
    const [found] = await tenant.db.query<{ done: number; tagged: number }>(
      `SELECT t.done, (SELECT count(*)::int FROM file_tags l JOIN tags g ON g.id = l.tag_id WHERE g.uuid = $2) AS tagged
       FROM tasks t WHERE t.uuid = $1`,
      [job.id, tag.id],
    );
    expect(found?.tagged).toBe(found?.done);
    await worker.start();
  }
  await waitFor('the end of the batch', async () => (await jobOf(person, job.id)).ended_at !== null);

  expect(await jobOf(person, job.id)).toMatchObject({
    state: 'succeeded',
    progress: { done: COUNT, total: COUNT, failed: 0, skipped: 0 },
  });
  expect((await person.api.get(`/tags/${tag.id}`)).body.files_count).toBe(COUNT);
});

const describedOf = async ({ user }: Person): Promise<number> => {
  const [row] = await tenant.db.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM file_metadata m JOIN files f ON f.id = m.file_id JOIN users u ON u.id = f.owner_id
     WHERE u.uuid = $1`,
    [user.id],
  );
  return row?.count ?? -1;
};
const waiting = () => tenant.db.query("SELECT FROM carrel.work WHERE kind = 'tasks.batch'");
