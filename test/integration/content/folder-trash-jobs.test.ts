import { describe, expect, test } from '@jest/globals';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;

const NOBODYS = '00000000-0000-4000-8000-000000000000';
const cost = async (work: () => Promise<ApiReply>): Promise<[status: number, sql: number]> => {
  const { reply, sql } = await tenant.counting(work);
  return [reply.status, sql.filter((text) => !/^(START TRANSACTION|BEGIN|COMMIT|ROLLBACK)/i.test(text)).length];
};

describe('a job', () => {
  const empty = ({ api }: Person) => api.delete('/trash');
  const ended = (id: string, failed: number) =>
    tenant.db.query(
      "UPDATE tasks SET state = 'succeeded', total = $2, done = $2, failed = $2, ended_at = now() WHERE uuid = $1",
      [id, failed],
    );

  test('is one, however many requests to empty the trash race, and later ones join it until it has ended', async () => {
    const carl = await tenant.user();
    await carl.api.get('/jobs');
    const first = await cost(() => empty(carl));
    const racing = await Promise.all(range(50).map(() => untilServed(() => empty(carl))));
    const joined = await cost(() => empty(carl));
    const { body: job } = racing[0] ?? (await empty(carl));

    expect([first, joined]).toEqual([
      [202, 5],
      [202, 3],
    ]);
    expect(new Set(racing.map(({ status, body }) => `${status} ${body.id}`))).toEqual(new Set([`202 ${job.id}`]));
    expect(job).toEqual({
      id: job.id,
      subject: null,
      kind: 'empty_trash',
      state: 'queued',
      requested_by: { id: carl.user.id, name: carl.user.username },
      progress: { done: 0, total: 0, failed: 0, skipped: 0 },
      created_at: job.created_at,
      started_at: null,
      ended_at: null,
      result: null,
      error: null,
      cancelable: true,
      retry_of: null,
    });
    await ended(job.id, 0);
    expect((await empty(carl)).body.id).not.toBe(job.id);
    expect((await tenant.anonymous.delete('/trash')).status).toBe(401);
    expect((await (await tenant.user({ roles: ['viewer'] })).api.delete('/trash')).status).toBe(403);
  });

  test("is its owner's, and administrators see and cancel it without what it is about", async () => {
    const [carl, dora] = [await tenant.user(), await tenant.user()];
    const { id } = (await empty(carl)).body;
    const [path, get] = [`/jobs/${id}`, (by: Api, of: string, query = {}) => by.get(of, { query })];

    const [list, one, items] = [
      await cost(() => get(carl.api, '/jobs')),
      await cost(() => get(carl.api, path)),
      await cost(() => get(carl.api, `${path}/items`)),
    ];
    const strangers = [
      get(dora.api, path),
      get(dora.api, `${path}/items`),
      dora.api.post(`${path}/cancel`),
      dora.api.post(`${path}/retry`),
      get(dora.api, '/jobs', { all: true }),
      get(tenant.admin, `${path}/items`),
      tenant.admin.post(`${path}/retry`),
    ];

    expect([list, one, items]).toEqual([
      [200, 1],
      [200, 1],
      [200, 2],
    ]);
    expect(await Promise.all(strangers.map(async (reply) => (await reply).status))).toEqual([404, 404, 404, 404, 403, 404, 404]);
    expect((await get(dora.api, '/jobs')).body.data).toEqual([]);
    expect((await get(tenant.admin, '/jobs')).body.data).toEqual([]);
    expect((await get(tenant.admin, '/jobs', { all: true, state: 'queued' })).body.data[0].id).toBe(id);
    expect((await get(tenant.admin, path)).body).toMatchObject({ id, requested_by: { id: carl.user.id } });
    expect((await tenant.admin.post(`${path}/cancel`)).body).toMatchObject({ id, state: 'canceled', cancelable: false });
    await tenant.admin.delete(`/users/${carl.user.id}`);
    expect((await get(tenant.admin, path)).status).toBe(404);
  });

  test('is canceled once of 50 times, is never more than ten of a person, and is listed page by page', async () => {
    const carl = await tenant.user();
    const { id } = (await empty(carl)).body;
    const cancels = await Promise.all(range(50).map(() => untilServed(() => carl.api.post(`/jobs/${id}/cancel`))));
    await tenant.db.query(
      `INSERT INTO tasks (uuid, kind, user_id, arguments, created_at)
       SELECT gen_random_uuid(), 'empty_trash', u.id, '{}', now() - n * interval '1 minute' FROM users u, generate_series(1, 10) n
       WHERE u.uuid = $1`,
      [carl.user.id],
    );
    const tooMany = await empty(carl);
    const pages: { id: string; state: string; created_at: string }[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await carl.api.get('/jobs', { query: { limit: 4, ...(cursor === '' ? {} : { cursor }) } });
      pages.push(...body.data);
      cursor = body.pagination.next_cursor;
    }

    expect(countBy(cancels, ({ status }) => status)).toEqual({ 202: 1, 409: 49 });
    expect([tooMany.status, tooMany.body.error]).toEqual([409, 'conflict']);
    expect(new Set(pages.map((job) => job.id)).size).toBe(11);
    expect(pages.map((job) => job.created_at)).toEqual(
      pages
        .map((job) => job.created_at)
        .toSorted()
        .toReversed(),
    );
    const filtered = await carl.api.get('/jobs', { query: { state: 'canceled', kind: 'empty_trash' } });
    expect(filtered.body.data.map((job: { id: string }) => job.id)).toEqual([id]);
    expect((await carl.api.get('/jobs', { query: { kind: 'dance' } })).status).toBe(400);
  });

  test('is followed by server-sent events until it ends, five at once, and no longer than its session', async () => {
    const [carl, dora] = [await tenant.user(), await tenant.user()];
    const [{ id }, other] = [(await empty(carl)).body, (await empty(dora)).body];
    const follow = (by: Api, of: string) =>
      by.raw('GET', `/jobs/${of}`, { headers: { accept: 'application/json;q=0.1, text/event-stream' } });
    const eventsOf = ({ bytes }: ApiReply): { state: string }[] =>
      [...bytes.toString().matchAll(/^data: (.*)$/gm)].map(([, text = '']) => JSON.parse(text));

    const six = range(6).map(() => follow(carl.api, id));
    const refused = await Promise.race(six);
    await carl.api.post(`/jobs/${id}/cancel`);
    const followed = (await Promise.all(six)).filter(({ status }) => status === 200);
    const cut = follow(dora.api, other.id);
    await tenant.admin.patch(`/users/${dora.user.id}`, { is_active: false });
    await cut.catch(() => undefined);

    expect([refused.status, refused.body.error]).toEqual([429, 'rate_limit_exceeded']);
    expect(followed.map(({ headers }) => headers['content-type'])).toEqual(range(5).map(() => 'text/event-stream'));
    const { body: job } = await carl.api.get(`/jobs/${id}`);
    expect(followed.map((reply) => eventsOf(reply).at(-1))).toEqual(range(5).map(() => job));
    expect((await follow(carl.api, id)).status).toBe(200);
    expect((await follow(tenant.admin, NOBODYS)).status).toBe(404);
  });

  test('is tried again for what failed, once of 50 times', async () => {
    const carl = await tenant.user();
    const { id } = (await empty(carl)).body;
    const early = await carl.api.post(`/jobs/${id}/retry`);
    await ended(id, 0);
    const nothing = await carl.api.post(`/jobs/${id}/retry`);
    await tenant.db.query(
      `INSERT INTO task_items (task_id, rank, target_type, target, target_name, state, error_code, error_message)
       SELECT t.id, 0, 'file', gen_random_uuid(), 'item ' || n, CASE WHEN n < 3 THEN 'failed' ELSE 'succeeded' END,
         CASE WHEN n < 3 THEN 'not_found' END, 'gone'
       FROM tasks t, generate_series(1, 5) n WHERE t.uuid = $1`,
      [id],
    );
    await ended(id, 2);
    const [retries, failed] = [
      await Promise.all(range(50).map(() => untilServed(() => carl.api.post(`/jobs/${id}/retry`)))),
      (await carl.api.get(`/jobs/${id}/items`, { query: { state: 'failed' } })).body.data,
    ];

    const [retry] = retries.filter(({ status }) => status === 202);
    expect([early.status, nothing.status]).toEqual([409, 409]);
    expect(countBy(retries, ({ status }) => status)).toEqual({ 202: 1, 409: 49 });
    expect(retry?.body).toMatchObject({ retry_of: id, state: 'queued', progress: { done: 0, total: 2, failed: 0 } });
    expect(failed.map(({ target, error }: Record<string, Record<string, string>>) => [target?.name, error?.code])).toEqual([
      ['item 1', 'not_found'],
      ['item 2', 'not_found'],
    ]);
    const again = (await carl.api.get(`/jobs/${retry?.body.id}/items`, { query: { sort: '-position', limit: 1 } })).body;
    expect(again).toMatchObject({
      data: [{ target: { name: 'item 2' }, state: 'queued', error: null }],
      pagination: { has_more: true },
    });
  });
});
