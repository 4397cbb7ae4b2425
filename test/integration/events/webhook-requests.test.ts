import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { type Api, type ApiReply, sendRaw } from '../../support/clients/api.ts';
import { type Document, operationsOf } from '../../support/clients/openapi.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant } from '../../support/programs/server.ts';

const tenant = serverSuite();
let admin: Api;
beforeAll(() => {
  admin = tenant.admin;
});
afterEach(() => tenant.db.query('DELETE FROM webhooks'));

const URL = 'https://receiver.example.org/hook';
const hook = { url: URL, events: ['file.created', 'user.updated'] };
const NOW = new Date().toISOString();
const NOBODY = '6f1c1d2e-0000-4000-8000-000000000000';

const create = async (input: object = {}): Promise<ApiReply['body']> => {
  const reply = await admin.post('/webhooks', { ...hook, ...input });
  if (reply.status !== 201) throw new Error(`the webhook was not made: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
};

const refusal = ({ status, body }: ApiReply): unknown[] => [
  status,
  body.error,
  body.details?.map(({ field }: { field: string }) => field),
];

test('members, instructors and viewers may not even look; an unknown id and one of another tenant are 404', async () => {
  const { id } = await create();
  const other = await startTenant();
  const foreign = (await other.admin.post('/webhooks', hook)).body.id as string;
  const calls = (api: Api, uuid: string): Promise<ApiReply>[] => [
    api.get(`/webhooks/${uuid}`),
    api.patch(`/webhooks/${uuid}`, { active: false }),
    api.delete(`/webhooks/${uuid}`),
    api.post(`/webhooks/${uuid}/secret`, {}),
    api.get(`/webhooks/${uuid}/deliveries`),
    api.get(`/webhooks/${uuid}/deliveries/${NOBODY}`),
    api.post(`/webhooks/${uuid}/deliveries/${NOBODY}/replay`),
    api.post(`/webhooks/${uuid}/replay`, { since: '2020-01-01T00:00:00Z' }),
    api.post(`/webhooks/${uuid}/test`, {}),
  ];
  const statuses = async (replies: Promise<ApiReply>[]): Promise<number[]> => [
    ...new Set((await Promise.all(replies)).map(({ status }) => status)),
  ];

  for (const role of ['viewer', 'member', 'instructor']) {
    const { api } = await tenant.user({ roles: [role] });
    expect(await statuses([...calls(api, id), api.get('/webhooks'), api.post('/webhooks', hook)])).toEqual([403]);
  }
  expect(await statuses(calls(admin, foreign))).toEqual([404]);
  expect(await statuses(calls(admin, NOBODY))).toEqual([404]);
  expect(await statuses(calls(tenant.anonymous, id))).toEqual([401]);
  expect(await statuses(calls(other.admin, foreign).slice(0, 1))).toEqual([200]);
  await other.stop();
});

test.each([
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59-01:00',
  '2026-02-30T00:00:00Z',
  '2026-01-01T00:00:00',
])('the time %s is refused by name, in a list, a replay and a cursor', async (time) => {
  const { id } = await create();
  const cursor = Buffer.from(JSON.stringify([NOW, time, 1])).toString('base64url');

  const replies = [
    await admin.get(`/webhooks/${id}/deliveries`, { query: { since: time } }),
    await admin.post(`/webhooks/${id}/replay`, { since: time, until: NOW }),
    await admin.post(`/webhooks/${id}/replay`, { since: '2020-01-01T00:00:00Z', until: time }),
    await admin.post(`/webhooks/${id}/replay`, { since: '2020-01-01T00:00:00Z', cursor }),
  ];

  expect(replies.map(refusal)).toEqual(['since', 'since', 'until', 'cursor'].map((field) => [400, 'validation_failed', [field]]));
});

test('a time may have any offset that there is', async () => {
  const { id } = await create();
  await admin.post(`/webhooks/${id}/test`);
  const since = (time: string): Promise<ApiReply> => admin.get(`/webhooks/${id}/deliveries`, { query: { since: time } });
  const anHourAgo = Date.now() - 3_600_000;
  const elsewhere = (hours: number, sign: string): string => {
    const local = new Date(anHourAgo + Number(`${sign}${hours}`) * 3_600_000).toISOString().slice(0, -1);
    return `${local}${sign}${String(hours).padStart(2, '0')}:00`;
  };

  for (const time of [elsewhere(14, '+'), elsewhere(12, '-'), elsewhere(23, '+'), elsewhere(23, '-')]) {
    expect((await since(time)).body.data).toHaveLength(1);
  }
  expect((await since(new Date(Date.now() + 60_000).toISOString())).body.data).toEqual([]);
});

test('if all fields are optional a request needs no body, also in chunks from a proxy; other types are refused', async () => {
  const { id } = await create();
  const headers = [
    'Host',
    new globalThis.URL(tenant.apiUrl).host,
    'Authorization',
    `Bearer ${admin.token}`,
    'Transfer-Encoding',
    'chunked',
  ];
  const send = (body?: string): Promise<ApiReply> =>
    sendRaw(`${tenant.apiUrl}/webhooks/${id}/test`, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });

  expect([(await send()).status, (await admin.post(`/webhooks/${id}/test`)).status, (await send('{}')).status]).toEqual([
    202, 202, 415,
  ]);
});

test('the OpenAPI document has every operation', async () => {
  const document = (await tenant.anonymous.get('/openapi.json')).body as Document;
  const operations = operationsOf(document).flatMap(({ name, path }) => (path.startsWith('/webhooks') ? [name] : []));

  expect(operations.toSorted()).toEqual([
    'delete /webhooks/{id}',
    'get /webhooks',
    'get /webhooks/{id}',
    'get /webhooks/{id}/deliveries',
    'get /webhooks/{id}/deliveries/{delivery}',
    'get /webhooks/{id}/statistics',
    'patch /webhooks/{id}',
    'post /webhooks',
    'post /webhooks/{id}/deliveries/{delivery}/replay',
    'post /webhooks/{id}/replay',
    'post /webhooks/{id}/replays',
    'post /webhooks/{id}/secret',
    'post /webhooks/{id}/test',
    'put /webhooks/{id}',
  ]);
});

test('statements: creation 3, list 1, deliveries 1, replay 1, replay of a range 2, test 2', async () => {
  const { id } = await create({ events: ['user.created'] });
  await tenant.user();
  const count = async (work: () => Promise<ApiReply>): Promise<[number, number]> => {
    const { reply, sql } = await tenant.counting(work);
    return [reply.status, sql.filter((text) => !/^(START|BEGIN|COMMIT|SET)/.test(text)).length];
  };
  const [delivery] = (await admin.get(`/webhooks/${id}/deliveries`)).body.data;

  expect({
    create: await count(() => admin.post('/webhooks', hook)),
    list: await count(() => admin.get('/webhooks')),
    deliveries: await count(() => admin.get(`/webhooks/${id}/deliveries`)),
    delivery: await count(() => admin.get(`/webhooks/${id}/deliveries/${delivery.id}`)),
    replay: await count(() => admin.post(`/webhooks/${id}/deliveries/${delivery.id}/replay`)),
    range: await count(() => admin.post(`/webhooks/${id}/replay`, { since: '2020-01-01T00:00:00Z' })),
    test: await count(() => admin.post(`/webhooks/${id}/test`)),
  }).toEqual({
    create: [201, 3],
    list: [200, 1],
    deliveries: [200, 1],
    delivery: [200, 1],
    replay: [202, 1],
    range: [202, 2],
    test: [202, 2],
  });
});

test('a replay ends by the clock that dates deliveries, however far the server’s own clock is ahead', async () => {
  const ahead = await startTenant({ clock: { ...systemClock, now: () => new Date(Date.now() + 30_000) } });
  try {
    const { body: webhook } = await ahead.admin.post('/webhooks', hook);

    const { status, body } = await ahead.admin.post(`/webhooks/${webhook.id}/replays`, {
      since: new Date(Date.now() - 60_000).toISOString(),
    });

    expect(status).toBe(202);
    const [row] = await ahead.db.query<{ isPast: boolean }>('SELECT $1::timestamptz <= now() AS "isPast"', [body.result.until]);
    expect(row).toEqual({ isPast: true });
  } finally {
    await ahead.stop();
  }
});
