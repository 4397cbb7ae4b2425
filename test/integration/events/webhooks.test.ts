import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { type Api, type ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';

const tenant = serverSuite();
let admin: Api;
beforeAll(() => {
  admin = tenant.admin;
});
afterEach(() => tenant.db.query('DELETE FROM webhooks'));

const URL = 'https://receiver.example.org/hook';
const hook = { url: URL, events: ['file.created', 'user.updated'] };
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

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

test('creation shows a generated secret once; afterwards nothing shows it or the values of headers', async () => {
  const reply = await admin.post('/webhooks', {
    ...hook,
    description: 'Grades',
    headers: { Authorization: 'Bearer hidden-value' },
  });

  expect(reply.status).toBe(201);
  expect(reply.headers.etag).toBe(`"${reply.body.etag}"`);
  const { secret, ...webhook } = reply.body;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(webhook).toEqual({
    ...hook,
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    active: true,
    description: 'Grades',
    header_names: ['Authorization'],
    managed_by: null,
    managed_ref: null,
    failing_since: null,
    disabled_reason: null,
    last_delivery_at: null,
    last_status_code: null,
    previous_secret_until: null,
    created_at: TIME,
    updated_at: TIME,
    etag: expect.any(String),
  });
  expect((await admin.get(`/webhooks/${webhook.id}`)).body).toEqual(webhook);
  const later = [await admin.get('/webhooks'), await admin.patch(`/webhooks/${webhook.id}`, { description: null })];
  const row = JSON.stringify(await tenant.db.tables.webhooks.find({ uuid: webhook.id }));
  expect(`${later.map(({ bytes }) => bytes).join('')}${row}`).not.toMatch(/hidden-value|whsec_/);
});

test('a given secret is stored unchanged, and shown as whsec_ and its base64', async () => {
  const plain = await create({ secret: 'my own secret' });
  const prefixed = await create({ secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' });

  expect([plain.secret, prefixed.secret]).toEqual([
    `whsec_${Buffer.from('my own secret').toString('base64')}`,
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  ]);
});

test('a reply with a secret is shown again for its Idempotency-Key, and no secret is stored in the open', async () => {
  const again = { headers: { 'Idempotency-Key': 'the-same' } };
  const [first, second] = [await admin.post('/webhooks', hook, again), await admin.post('/webhooks', hook, again)];
  const [stored] = await tenant.db.query<{ body: string }>('SELECT body FROM idempotency_keys');

  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
  expect(stored?.body).toMatch(/^v1\./);
});

test.each([
  ['a private address', { url: 'https://10.1.2.3/hook' }, [422, 'address_refused', ['url']]],
  ['a metadata service', { url: 'https://169.254.169.254/latest' }, [422, 'address_refused', ['url']]],
  ['a disguised loopback', { url: 'https://[::ffff:10.0.0.1]/' }, [422, 'address_refused', ['url']]],
  ['plain http', { url: 'http://receiver.example.org/' }, [400, 'validation_failed', ['url']]],
  ['no address', { url: 'receiver' }, [400, 'validation_failed', ['url']]],
  ['a password in the address', { url: 'https://a:b@receiver.example.org/' }, [400, 'validation_failed', ['url']]],
  ['no events', { events: [] }, [400, 'validation_failed', ['events']]],
  ['an unknown event', { events: ['file.created', 'file.moved'] }, [400, 'validation_failed', ['events.1']]],
  ['an event twice', { events: ['file.created', 'file.created'] }, [400, 'validation_failed', ['events']]],
  ['a header of ours', { headers: { 'Webhook-Id': 'x' } }, [400, 'validation_failed', ['headers.Webhook-Id']]],
  ['a header twice', { headers: { 'X-A': '1', 'x-a': '2' } }, [400, 'validation_failed', ['headers']]],
  ['a header with a line break', { headers: { 'X-A': 'a\r\nb' } }, [400, 'validation_failed', ['headers.X-A']]],
  ['a long header', { headers: { 'X-A': 'a'.repeat(1025) } }, [400, 'validation_failed', ['headers.X-A']]],
  [
    'many headers',
    { headers: Object.fromEntries(range(21).map((at) => [`X-${at}`, ''])) },
    [400, 'validation_failed', ['headers']],
  ],
  ['a secret that is none', { secret: 'whsec_%%%' }, [400, 'validation_failed', ['secret']]],
  ['an empty secret', { secret: '' }, [400, 'validation_failed', ['secret']]],
  ['an unknown field', { colour: 'red' }, [400, 'validation_failed', ['colour']]],
])('a webhook with %s is refused', async (_what, input, expected) => {
  expect(refusal(await admin.post('/webhooks', { ...hook, ...input }))).toEqual(expected);
});

test('exactly 50 of 60 concurrent creations succeed, and the others say what to do', async () => {
  const replies = await Promise.all(range(60).map(() => untilServed(() => admin.post('/webhooks', hook))));

  expect(countBy(replies, ({ status }) => status)).toEqual({ 201: 50, 409: 10 });
  expect(replies.find(({ status }) => status === 409)?.body.message).toBe(
    'The tenant has 50 webhooks, the maximum; delete one first.',
  );
});

test('the list goes by creation, page by page, and by event and state', async () => {
  const made = [await create(), await create({ events: ['grade.submitted'] }), await create({ active: false })];
  const ids = ({ body }: ApiReply): string[] => body.data.map(({ id }: { id: string }) => id);

  const first = await admin.get('/webhooks', { query: { limit: 2 } });
  const second = await admin.get('/webhooks', { query: { limit: 2, cursor: first.body.pagination.next_cursor } });

  expect([...ids(first), ...ids(second)]).toEqual(made.map(({ id }) => id).toReversed());
  expect(second.body.pagination).toEqual({ limit: 2, next_cursor: null, has_more: false });
  expect(ids(await admin.get('/webhooks', { query: { sort: 'created_at' } }))).toEqual(made.map(({ id }) => id));
  expect(ids(await admin.get('/webhooks', { query: { event: 'grade.submitted' } }))).toEqual([made[1].id]);
  expect(ids(await admin.get('/webhooks', { query: { active: 'false' } }))).toEqual([made[2].id]);
});

test('PUT and PATCH change what is given and leave the rest; of 10 racing PATCHes with one If-Match one wins', async () => {
  const { id } = await create({ headers: { 'X-Team': 'a' } });
  const whole = { url: `${URL}/2`, events: ['user.created'], active: false, description: 'two' };

  const put = await admin.put(`/webhooks/${id}`, whole);
  const part = await admin.put(`/webhooks/${id}`, { description: 'three' });
  const nothing = await admin.put(`/webhooks/${id}`, {});
  const emptied = await admin.patch(`/webhooks/${id}`, { headers: {} });
  const racing = await Promise.all(
    range(10).map((at) =>
      admin.patch(`/webhooks/${id}`, { description: `${at}` }, { headers: { 'If-Match': String(emptied.headers.etag) } }),
    ),
  );

  expect([put.status, put.body]).toEqual([200, expect.objectContaining({ ...whole, header_names: ['X-Team'] })]);
  expect(part.body).toMatchObject({ ...whole, description: 'three', header_names: ['X-Team'] });
  expect(refusal(nothing)).toEqual([400, 'validation_failed', ['body']]);
  expect(emptied.body.header_names).toEqual([]);
  expect(countBy(racing, ({ status }) => status)).toEqual({ 200: 1, 412: 9 });
  const winner = racing.find(({ status }) => status === 200)?.body;
  expect((await admin.get(`/webhooks/${id}`)).body).toEqual(winner);
  expect(refusal(await admin.patch(`/webhooks/${id}`, { active: true, secret: 'x' }))).toEqual([
    400,
    'validation_failed',
    ['secret'],
  ]);
  expect(refusal(await admin.patch(`/webhooks/${id}`, { url: 'https://127.1.2.3.4.5/' }))[0]).toBe(400);
  expect(refusal(await admin.patch(`/webhooks/${id}`, { url: 'https://192.168.0.1/' }))[0]).toBe(422);
});

test('headers do not follow a webhook to another origin: they are given again with it, or the change is refused', async () => {
  const headers = { Authorization: 'Bearer hidden' };
  const whole = { events: ['user.created'], active: true, description: null };
  const elsewhere = [
    'https://evil.example.org/hook',
    'https://receiver.example.org:8443/hook',
    'https://sub.receiver.example.org/hook',
  ];
  const [{ id }, bare] = [await create({ headers }), await create()];

  for (const url of elsewhere) {
    expect(refusal(await admin.patch(`/webhooks/${id}`, { url }))).toEqual([400, 'validation_failed', ['headers']]);
    expect(refusal(await admin.put(`/webhooks/${id}`, { ...whole, url }))).toEqual([400, 'validation_failed', ['headers']]);
  }
  expect((await admin.patch(`/webhooks/${id}`, { url: elsewhere[0] })).body.details[0].message).toBe(
    'must be re-sent when url moves to another origin ({} to clear)',
  );
  expect((await admin.get(`/webhooks/${id}`)).body).toMatchObject({ url: URL, header_names: ['Authorization'] });
  expect((await admin.patch(`/webhooks/${id}`, { url: `${URL}/2?x` })).body.header_names).toEqual(['Authorization']);
  expect((await admin.patch(`/webhooks/${id}`, { url: elsewhere[1], headers: { 'X-New': 'a' } })).body).toMatchObject({
    url: elsewhere[1],
    header_names: ['X-New'],
  });
  expect((await admin.put(`/webhooks/${id}`, { ...whole, url: elsewhere[2], headers: {} })).body.header_names).toEqual([]);
  expect((await admin.patch(`/webhooks/${bare.id}`, { url: elsewhere[0] })).status).toBe(200);
});

test('a delivery changes neither ETag nor updated_at; a disabled webhook says why, and active: true restarts it', async () => {
  const { id, etag, updated_at } = await create();
  const noted =
    'failing_since = now(), last_delivery_at = now(), last_status_code = 503, active = active, disabled_reason = ' +
    'disabled_reason';
  await tenant.db.query(`UPDATE webhooks SET ${noted} WHERE uuid = $1`, [id]);
  const failing = (await admin.get(`/webhooks/${id}`)).body;
  await tenant.db.query(
    `UPDATE webhooks SET active = false, disabled_reason = 'the receiver answered 410 Gone' WHERE uuid = $1`,
    [id],
  );

  const disabled = (await admin.get(`/webhooks/${id}`)).body;
  const renamed = (await admin.patch(`/webhooks/${id}`, { description: 'still off' })).body;
  const enabled = (await admin.patch(`/webhooks/${id}`, { active: true })).body;

  expect(failing).toMatchObject({ etag, updated_at, failing_since: TIME, last_delivery_at: TIME, last_status_code: 503 });
  expect(disabled).toMatchObject({ active: false, disabled_reason: 'the receiver answered 410 Gone' });
  expect(disabled.etag).not.toBe(etag);
  expect(renamed).toMatchObject({ active: false, disabled_reason: 'the receiver answered 410 Gone' });
  expect(enabled).toMatchObject({ active: true, disabled_reason: null, failing_since: null });
});

test('another address begins with a clean record', async () => {
  const { id } = await create();
  await tenant.db.query(`UPDATE webhooks SET failing_since = now() WHERE uuid = $1`, [id]);

  expect((await admin.patch(`/webhooks/${id}`, { url: URL })).body.failing_since).toEqual(TIME);
  expect((await admin.patch(`/webhooks/${id}`, { url: `${URL}/new` })).body.failing_since).toBeNull();
});

test('a rotation shows the new secret once, and until when the former one holds; without overlap it ends at once', async () => {
  const { id, secret, etag } = await create();

  const rotated = await admin.post(`/webhooks/${id}/secret`);
  const given = await admin.post(`/webhooks/${id}/secret`, { secret: 'given', overlap_hours: 0 });
  const stale = await admin.post(`/webhooks/${id}/secret`, {}, { headers: { 'If-Match': `"${etag}"` } });

  expect([rotated.status, given.status, stale.status]).toEqual([200, 200, 412]);
  expect(rotated.body.secret).toMatch(/^whsec_/);
  expect(rotated.body.secret).not.toBe(secret);
  expect(new Date(rotated.body.previous_secret_until).getTime() - Date.now()).toBeGreaterThan(23.9 * 3_600_000);
  expect(given.body).toMatchObject({ secret: `whsec_${Buffer.from('given').toString('base64')}`, previous_secret_until: null });
  expect(await tenant.db.tables.webhooks.find({ uuid: id })).toMatchObject({ previousSecret: null });
  expect(refusal(await admin.post(`/webhooks/${id}/secret`, { overlap_hours: 25 }))).toEqual([
    400,
    'validation_failed',
    ['overlap_hours'],
  ]);
});

test('a webhook that Kubernetes manages can be tested and replayed; a change is refused with the resource’s name', async () => {
  const id = await addWebhook(tenant);
  await tenant.db.query(`UPDATE webhooks SET managed_by = 'kubernetes', managed_ref = 'demo/hook' WHERE uuid = $1`, [id]);
  const whole = { url: URL, events: ['user.created'], active: true, description: null };

  const changes = [
    await admin.put(`/webhooks/${id}`, whole),
    await admin.patch(`/webhooks/${id}`, { active: false }),
    await admin.delete(`/webhooks/${id}`),
    await admin.post(`/webhooks/${id}/secret`, {}),
  ];
  const tested = await admin.post(`/webhooks/${id}/test`, {});
  const replayed = await admin.post(`/webhooks/${id}/deliveries/${tested.body.id}/replay`);
  const range = await admin.post(`/webhooks/${id}/replay`, { since: '2020-01-01T00:00:00Z' });

  expect(changes.map(({ status, body }) => [status, body.error])).toEqual(changes.map(() => [403, 'managed']));
  expect(changes[0]?.body.message).toBe('The Kubernetes resource Webhook demo/hook manages this webhook; change it there.');
  expect((await admin.get(`/webhooks/${id}`)).body).toMatchObject({
    managed_by: 'kubernetes',
    managed_ref: 'demo/hook',
    active: true,
  });
  expect([tested.status, replayed.status, range.status]).toEqual([202, 202, 202]);
});

test('a deleted webhook is gone with its deliveries and gets no further event', async () => {
  const { id } = await create({ events: ['user.created'] });
  await tenant.user();
  expect((await admin.get(`/webhooks/${id}/deliveries`)).body.data).toHaveLength(1);

  const stale = await admin.delete(`/webhooks/${id}`, { headers: { 'If-Match': '"other"' } });
  const deleted = await admin.delete(`/webhooks/${id}`);
  const before = (await writtenEvents(tenant)).length;
  await tenant.user();

  expect([stale.status, deleted.status]).toEqual([412, 204]);
  expect((await admin.get(`/webhooks/${id}/deliveries`)).status).toBe(404);
  expect((await writtenEvents(tenant)).length).toBe(before);
});
