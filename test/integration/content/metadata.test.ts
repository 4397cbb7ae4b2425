import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { addMetadata } from '../../support/data/tags-and-metadata.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;
type Entry = { key: string; value: unknown; value_type: string; etag: string };

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const upload = async ({ api }: Person, name = 'a.txt'): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.from(name) })).body.id;
const put = (by: Person, file: string, key: string, body: object, headers: Record<string, string> = {}): Promise<ApiReply> =>
  untilServed(() => by.api.put(`/files/${file}/metadata/${encodeURIComponent(key)}`, body, { headers }));
const remove = (by: Person, file: string, key: string, headers: Record<string, string> = {}): Promise<ApiReply> =>
  by.api.delete(`/files/${file}/metadata/${encodeURIComponent(key)}`, { headers });
const list = async (by: Person, file: string): Promise<Entry[]> => (await by.api.get(`/files/${file}/metadata`)).body.data;
const grant = (by: Person, file: string, to: Person, permission_level: string): Promise<ApiReply> =>
  by.api.post(`/files/${file}/permissions`, { permission_level, user_id: to.user.id });

describe('keys', () => {
  const [composed, decomposed] = ['Am\u00e9lie', 'Ame\u0301lie'];

  test('are in NFC: both spellings of one text are one key, in a path and in a filter', async () => {
    const ada = await tenant.user();
    const file = await upload(ada);

    const [made, again] = [await put(ada, file, decomposed, { value: 'x' }), await put(ada, file, composed, { value: 'x' })];

    expect([made.status, again.status, made.body.key, again.body.etag]).toEqual([201, 200, composed, made.body.etag]);
    for (const key of [composed, decomposed])
      expect((await ada.api.get(`/files?metadata[${encodeURIComponent(key)}]=x`)).body.data).toHaveLength(1);
    expect([(await remove(ada, file, decomposed)).status, await list(ada, file)]).toEqual([204, []]);
  });
});

describe('metadata of a file', () => {
  test('is set with 201, changed with 200, listed by key, and deleted', async () => {
    const ada = await tenant.user();
    const file = await upload(ada);

    const made = await put(ada, file, 'pages', { value: 212, value_type: 'number' });
    const changed = await put(ada, file, 'pages', { value: 'many' });
    await put(ada, file, 'course', { value: { id: [1, null] }, value_type: 'json' });

    expect([made.status, changed.status]).toEqual([201, 200]);
    expect(made.body).toEqual({
      key: 'pages',
      value: 212,
      value_type: 'number',
      created_at: TIME,
      updated_at: TIME,
      etag: expect.any(String),
    });
    expect(made.headers.etag).toBe(`"${made.body.etag}"`);
    expect(await list(ada, file)).toMatchObject([
      { key: 'course', value: { id: [1, null] }, value_type: 'json' },
      { ...changed.body, value: 'many', value_type: 'string' },
    ]);
    expect([(await remove(ada, file, 'pages')).status, (await remove(ada, file, 'pages')).status]).toEqual([204, 404]);
    expect(await list(ada, file)).toMatchObject([{ key: 'course' }]);
  });

  test.each(['schlüssel', '…', 'with space', 'a.b', '.hidden', '...', 'a%2Fb', 'x'.repeat(100), '数', '"', '?&=#'])(
    'has the key %j as it was sent',
    async (key) => {
      const ada = await tenant.user();
      const file = await upload(ada);

      expect([(await put(ada, file, key, { value: 'v' })).body.key, (await list(ada, file)).map((entry) => entry.key)]).toEqual([
        key,
        [key],
      ]);
      expect((await ada.api.get('/files', { query: { [`metadata[${key}]`]: 'v' } })).body.data).toMatchObject([{ id: file }]);
      expect((await remove(ada, file, key)).status).toBe(204);
    },
  );

  test.each([
    ['key', 'a/b', { value: 'v' }],
    ['key', 'a[b]', { value: 'v' }],
    ['key', 'line\nbreak', { value: 'v' }],
    ['key', 'x'.repeat(101), { value: 'v' }],
    ['value', 'k', {}],
    ['value', 'k', { value: 7 }],
    ['value', 'k', { value: null }],
    ['value', 'k', { value: 'x'.repeat(65_537) }],
    ['value', 'k', { value: ['x'.repeat(65_533)], value_type: 'json' }],
    ['value_type', 'k', { value: 7, value_type: 'integer' }],
    ['etag', 'k', { value: 'v', etag: 'x' }],
  ])('with a wrong %s is a 400 that names it (%#)', async (field, key, body) => {
    const ada = await tenant.user();
    const reply = await put(ada, await upload(ada), key, body);

    expect([reply.status, reply.body.details.map((detail: { field: string }) => detail.field)]).toEqual([400, [field]]);
  });

  test.each([
    [{ value: 7, value_type: 'string' }],
    [{ value: '7', value_type: 'number' }],
    [{ value: 'true', value_type: 'boolean' }],
    [{ value: null, value_type: 'boolean' }],
  ])('whose value is of another type, %j, is a 422 and changes nothing', async (body) => {
    const ada = await tenant.user();
    const file = await upload(ada);
    await put(ada, file, 'k', { value: 'before' });

    const reply = await put(ada, file, 'k', body);

    expect([reply.status, reply.body.error, reply.body.details[0].field]).toEqual([422, 'value_type_mismatch', 'value']);
    expect(await list(ada, file)).toMatchObject([{ value: 'before' }]);
  });

  test('comes in pages that end before 4 MiB, also where a file has more than it may have now', async () => {
    const ada = await tenant.user();
    const file = await upload(ada);
    await addMetadata(
      tenant,
      [file],
      range(70).map((at) => ({ key: `k${String(at).padStart(2, '0')}`, value: 'é'.repeat(32_768) })),
    );

    const keys: string[] = [];
    let url = `/files/${file}/metadata?limit=200`;
    for (;;) {
      const page = await ada.api.get(url);
      expect(page.bytes.length).toBeLessThan(4 * 1024 * 1024 + 100_000);
      keys.push(...page.body.data.map(({ key }: Entry) => key));
      const next = /^<([^>]+)>/.exec(page.headers.link ?? '')?.[1];
      if (next === undefined) break;
      url = next;
    }

    expect(keys).toEqual(range(70).map((at) => `k${String(at).padStart(2, '0')}`));
  });

  test('has 100 keys at most, however many writers race, and the 101st is a 409', async () => {
    const ada = await tenant.user();
    const file = await upload(ada);
    for (const at of range(80)) await put(ada, file, `k${at}`, { value: 'v' });

    const racing = await Promise.all(range(50).map((at) => put(ada, file, `race ${at}`, { value: 'v' })));

    expect(countBy(racing, ({ status }) => status)).toEqual({ 201: 20, 409: 30 });
    expect(racing.find(({ status }) => status === 409)?.body.error).toBe('conflict');
    expect((await ada.api.get(`/files/${file}/metadata`, { query: { limit: 200 } })).body.data).toHaveLength(100);
    expect((await put(ada, file, 'k1', { value: 'changed' })).status).toBe(200);
    await remove(ada, file, 'k1');
    expect((await put(ada, file, 'another', { value: 'v' })).status).toBe(201);
  });

  test('takes If-Match: of racing changes with one tag one wins, and what is not there matches nothing', async () => {
    const ada = await tenant.user();
    const file = await upload(ada);
    const absent = await put(ada, file, 'k', { value: 'v' }, { 'if-match': '*' });
    const { etag } = (await put(ada, file, 'k', { value: 'v' })).body;

    const racing = await Promise.all(
      range(10).map((at) => put(ada, file, 'k', { value: `v${at}` }, { 'if-match': `"${etag}"` })),
    );

    expect(countBy(racing, ({ status }) => status)).toEqual({ 200: 1, 412: 9 });
    expect([absent.status, (await remove(ada, file, 'k', { 'if-match': `"${etag}"` })).status]).toEqual([412, 412]);
    const [{ etag: now } = { etag: '' }] = await list(ada, file);
    expect((await remove(ada, file, 'k', { 'if-match': `"${now}"` })).status).toBe(204);
  });

  test('is read by whoever may read the file, and written by whoever may write it', async () => {
    const [ada, reader, writer, stranger] = [await tenant.user(), await tenant.user(), await tenant.user(), await tenant.user()];
    const viewer = await tenant.user({ roles: ['viewer'] });
    const file = await upload(ada);
    await put(ada, file, 'k', { value: 'v' });
    for (const [person, level] of [
      [reader, 'read'],
      [writer, 'write'],
      [viewer, 'write'],
    ] as const)
      await grant(ada, file, person, level);
    const outcome = async (who: Person): Promise<unknown[]> => [
      (await who.api.get(`/files/${file}/metadata`)).status,
      (await put(who, file, 'k', { value: `by ${who.user.id}` })).status,
      (await remove(who, file, 'none')).status,
    ];

    expect(await outcome(reader)).toEqual([200, 403, 403]);
    expect(await outcome(viewer)).toEqual([200, 403, 403]);
    expect(await outcome(stranger)).toEqual([404, 404, 404]);
    expect(await outcome(writer)).toEqual([200, 200, 404]);
    await ada.api.delete(`/files/${file}`);
    expect(await outcome(ada)).toEqual([404, 404, 404]);
    expect((await put(ada, randomUUID(), 'k', { value: 'v' })).status).toBe(404);
  });

  test('is nobody’s of another tenant', async () => {
    const ada = await tenant.user();
    const file = await upload(ada);
    const other = await startTenant();
    try {
      const path = `/files/${file}/metadata`;
      const replies = [
        await other.admin.get(path),
        await other.admin.put(`${path}/k`, { value: 'v' }),
        await other.admin.delete(`${path}/k`),
        await tenant.anonymous.as(other.admin.token).get(path),
        await tenant.anonymous.put(`${path}/k`, { value: 'v' }),
      ];
      expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 401, 401]);
    } finally {
      await other.stop();
    }
  });

  test('gives one event for each change, and costs the statements that its service says', async () => {
    await addWebhook(tenant, { events: ['file.updated'] });
    const ada = await tenant.user();
    const file = await upload(ada);
    const cost = async (work: () => Promise<ApiReply>): Promise<[status: number, sql: number]> => {
      const { reply, sql } = await tenant.counting(work);
      return [reply.status, sql.filter((text) => !/^(START TRANSACTION|BEGIN|COMMIT|ROLLBACK)/i.test(text)).length];
    };

    const costs = [
      await cost(() => put(ada, file, 'k', { value: 'v' })),
      await cost(() => put(ada, file, 'k', { value: 'v' })),
      await cost(() => put(ada, file, 'k', { value: 'w' })),
      await cost(() => remove(ada, file, 'k')),
    ];

    expect(costs).toEqual([
      [201, 4],
      [200, 2],
      [200, 4],
      [204, 4],
    ]);
    await ada.api.get(`/files/${file}`);
    expect(await cost(() => ada.api.get(`/files/${file}/metadata`))).toEqual([200, 1]);
    const events = (await writtenEvents(tenant)).filter(({ data }) => data.id === file);
    expect(events.map(({ data }) => data.changes)).toEqual([['metadata'], ['metadata'], ['metadata']]);
  });
});
