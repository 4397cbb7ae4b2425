import { beforeAll, expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite();
const COUNT = 2_500;
let api: Api;
let job: string;

/** A job that has ended: of its items each tenth failed by name_conflict, each hundredth by forbidden. */
beforeAll(async () => {
  ({ api } = await tenant.user());
  const { body: folder } = await api.post('/folders', { name: 'f' });
  job = (await api.post(`/folders/${folder.id}/copy`, { name: 'copy' })).body.id;
  await tenant.db.query(
    `WITH item AS (
       INSERT INTO task_items (task_id, rank, target_type, target, target_name, state, error_code, error_message, reason)
       SELECT t.id, 1, 'file', gen_random_uuid(), CASE n WHEN 1 THEN '=1+1' WHEN 2 THEN 'a, "b"' WHEN 3 THEN '' ELSE 'n' || n END,
         CASE WHEN n % 10 = 0 THEN 'failed' WHEN n = 4 THEN 'skipped' ELSE 'succeeded' END,
         CASE WHEN n % 100 = 0 THEN 'forbidden' WHEN n % 10 = 0 THEN 'name_conflict' END,
         CASE WHEN n % 10 = 0 THEN 'no' END, CASE n WHEN 4 THEN 'with_folder' END
       FROM tasks t, generate_series(1, ${COUNT}) n WHERE t.uuid = $1 ORDER BY n
     ) UPDATE tasks SET state = 'succeeded', is_planned = true, total = ${COUNT}, done = ${COUNT}, failed = 250, skipped = 1,
       ended_at = now()
       WHERE uuid = $1`,
    [job],
  );
});

const exported = async (type: string, query: Record<string, string> = {}): Promise<string[]> => {
  const reply = await api.get(`/jobs/${job}/items`, { query: { limit: 1, ...query }, headers: { accept: type } });
  expect([reply.status, reply.headers['content-type']]).toEqual([200, type]);
  return reply.bytes.toString().trimEnd().split(/\r?\n/);
};

test("items are filtered by their errors' code, and one that is skipped has its reason", async () => {
  const page = async (query: Record<string, string | number>) => (await api.get(`/jobs/${job}/items`, { query })).body;

  expect((await page({ code: 'forbidden', limit: 200 })).data).toHaveLength(25);
  expect((await page({ code: 'forbidden', state: 'succeeded' })).data).toEqual([]);
  expect((await page({ state: 'skipped' })).data).toEqual([
    expect.objectContaining({
      state: 'skipped',
      reason: 'with_folder',
      error: null,
      target: expect.objectContaining({ name: 'n4' }),
    }),
  ]);
  expect((await api.get(`/jobs/${job}`)).body.progress).toEqual({ done: COUNT, total: COUNT, failed: 250, skipped: 1 });
});

test('all items stream as lines of JSON, in their order and as the list has them, or those that match', async () => {
  const lines = (await exported('application/x-ndjson')).map((line) => JSON.parse(line));

  expect(lines).toHaveLength(COUNT);
  const { data } = (await api.get(`/jobs/${job}/items`, { query: { limit: 200 } })).body;
  expect(lines.slice(0, 200)).toEqual(data);
  expect(await exported('application/x-ndjson', { code: 'name_conflict' })).toHaveLength(225);
});

test('as a table they have a line of names, and no name is a formula', async () => {
  const [head, formula, quoted, unnamed, skipped, ...others] = await exported('text/csv');

  expect(head).toBe('id,type,target_id,name,state,reason,code,message,url,copy_id,made_id,made_path');
  expect(formula).toMatch(/^[0-9a-f-]{36},file,[0-9a-f-]{36},'=1\+1,succeeded,,,,,,,$/);
  expect(quoted).toMatch(/,"a, ""b""",succeeded,,,,,,,$/);
  expect(unnamed).toMatch(/,,succeeded,,,,,,,$/);
  expect(skipped).toMatch(/,n4,skipped,with_folder,,,,,,$/);
  expect(others).toHaveLength(COUNT - 4);
  expect(await exported('text/csv', { state: 'failed', code: 'forbidden' })).toHaveLength(26);
});

test('strangers stream none, and no page has another sort', async () => {
  const { api: stranger } = await tenant.user();
  const headers = { accept: 'text/csv' };

  expect((await stranger.get(`/jobs/${job}/items`, { headers })).status).toBe(404);
  expect((await tenant.admin.get(`/jobs/${job}/items`, { headers })).status).toBe(404);
  expect((await api.get(`/jobs/${job}/items`, { headers, query: { sort: 'name' } })).status).toBe(400);
});

test('a retry takes the items that failed by the named codes alone, and is refused where none did', async () => {
  const retry = (body?: object) => api.post(`/jobs/${job}/retry`, body);
  const cancel = (id: string) => api.post(`/jobs/${id}/cancel`);

  expect(await retry({ codes: ['quota_exceeded'] })).toMatchObject({ status: 409, body: { error: 'conflict' } });
  for (const codes of [[], ['A b'], 'forbidden']) expect((await retry({ codes })).status).toBe(400);
  const some = await retry({ codes: ['forbidden', 'quota_exceeded'] });
  expect(some).toMatchObject({ status: 202, body: { retry_of: job, progress: { done: 0, total: 25, failed: 0, skipped: 0 } } });
  await cancel(some.body.id);
  const all = await retry();
  expect(all.body.progress.total).toBe(250);
  await cancel(all.body.id);
});
