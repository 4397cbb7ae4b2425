import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { EVENTS } from '../../../pkg/events/catalogue.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { programEnvironment, ROOT } from '../../support/backends/backends.ts';
import { freePort } from '../../support/backends/ports.ts';
import { pythonEnvironment } from '../../support/programs/python.ts';
import type { Received } from '../../support/fakes/receiver.ts';
import { countBy, range, untilServed, waitFor } from '../../support/wait.ts';
import { ALL_EVENTS, emitGrades } from '../../support/clients/webhooks.ts';
import { webhookSuite } from '../../support/suites/worker-suite.ts';

const { tenant, receiver } = webhookSuite({ CARREL_WEBHOOK_RETRY_SECONDS: '0.3,0.3' });

/** Registers a webhook. Returns REST's reply, which includes the secret. */
async function register(input: object = {}): Promise<ApiReply['body']> {
  const reply = await tenant.admin.post('/webhooks', { url: receiver.url, events: ALL_EVENTS, ...input });
  if (reply.status !== 201) throw new Error(`the webhook was not made: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

const arrived = (count: number): Promise<readonly Received[]> =>
  waitFor(`${count} deliveries`, () => receiver.received.length >= count && receiver.received);

/** Returns the output of `openssl dgst -sha256 -hmac <secret>` for the received bytes. */
function openssl(bytes: string, secret: string): string {
  const { status, stdout, stderr } = spawnSync('openssl', ['dgst', '-sha256', '-hmac', secret], {
    input: bytes,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`openssl failed: ${stderr}`);
  return stdout.trim().replace(/^.*= /, '');
}

/** Returns true when the receivers' own library accepts the delivery. */
function standard({ body, headers }: Pick<Received, 'body' | 'headers'>, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, { ...headers });
    return true;
  } catch {
    return false;
  }
}

const VERIFY = `import json, sys
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
given = json.load(sys.stdin)
def verifies(delivery):
    try:
        Webhook(given['secret']).verify(delivery['body'], delivery['headers'])
        return True
    except WebhookVerificationError:
        return False
print(json.dumps([verifies(delivery) for delivery in given['deliveries']]))`;

/** Returns for each delivery whether Python's library accepts it. */
function standardInPython(deliveries: readonly Pick<Received, 'body' | 'headers'>[], secret: string): boolean[] {
  const input = JSON.stringify({ secret, deliveries: deliveries.map(({ body, headers }) => ({ body, headers })) });
  const { status, stdout, stderr } = spawnSync(join(pythonEnvironment('webhooks'), 'python'), ['-c', VERIFY], {
    input,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Python failed: ${stderr}`);
  return JSON.parse(stdout) as boolean[];
}

/** A change of each kind; six events. */
async function changeEverything(): Promise<void> {
  const { api, user } = await tenant.user();
  await tenant.admin.patch(`/users/${user.id}`, { display_name: 'Größe' });
  const { body: file } = await api.upload('/files', { file: Buffer.from('a'), name: 'ä “quoted” 😀.txt' });
  await api.patch(`/files/${file.id}`, { name: 'b' });
  await api.delete(`/files/${file.id}`);
  await emitGrades(tenant, 1);
}

test.each([
  ['a generated secret', {}, undefined],
  ['a given secret', { secret: 'a given secret' }, 'a given secret'],
  ['a given whsec_ secret', { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
])(
  'each of the six events verifies with openssl and with standardwebhooks of two languages, by %s',
  async (_what, input, given) => {
    const { secret } = await register(input);
    await changeEverything();

    const deliveries = await arrived(6);

    expect(deliveries.map(({ event }) => event).toSorted()).toEqual(ALL_EVENTS.toSorted());
    for (const delivery of deliveries) {
      expect(EVENTS[delivery.event as keyof typeof EVENTS].safeParse(delivery.data).error).toBeUndefined();
      expect(openssl(delivery.body, given ?? secret)).toBe(delivery.headers['x-carrel-signature']);
      expect(standard(delivery, secret)).toBe(true);
    }
    expect(standardInPython(deliveries, secret)).toEqual(deliveries.map(() => true));
  },
);

test('a tampered body, another id, an old time and another secret do not verify', async () => {
  const { secret } = await register();
  await emitGrades(tenant, 1);
  const [delivery] = await arrived(1);
  if (!delivery) throw new Error('no delivery');
  const { body, headers } = delivery;
  const tampered = body.replace('"score":0', '"score":9');
  const old = String(Number(headers['webhook-timestamp']) - 600);

  expect(tampered).not.toBe(body);
  expect(openssl(tampered, secret)).not.toBe(headers['x-carrel-signature']);
  expect(openssl(body, 'other')).not.toBe(headers['x-carrel-signature']);
  expect({
    asItCame: standard(delivery, secret),
    tampered: standard({ body: tampered, headers }, secret),
    id: standard({ body, headers: { ...headers, 'webhook-id': 'other' } }, secret),
    old: standard({ body, headers: { ...headers, 'webhook-timestamp': old } }, secret),
    secret: standard(delivery, `whsec_${Buffer.from('other').toString('base64')}`),
  }).toEqual({ asItCame: true, tampered: false, id: false, old: false, secret: false });
  const others = [
    { body: tampered, headers },
    { body, headers: { ...headers, 'webhook-id': 'other' } },
    { body, headers: { ...headers, 'webhook-timestamp': old } },
  ];
  expect(standardInPython([delivery, ...others], secret)).toEqual([true, false, false, false]);
});

test('during a rotation each delivery verifies by the old or the new secret, later ones by both', async () => {
  const { id, secret: before } = await register();
  const emitting = emitGrades(tenant, 40);
  await arrived(5);
  const { secret: after } = (await tenant.admin.post(`/webhooks/${id}/secret`)).body;
  await emitting;
  await arrived(40);
  await emitGrades(tenant, 5);

  const deliveries = await arrived(45);

  expect(deliveries.filter((each) => !standard(each, before) && !standard(each, after))).toEqual([]);
  for (const delivery of deliveries.slice(-5)) {
    expect([standard(delivery, before), standard(delivery, after)]).toEqual([true, true]);
    expect(openssl(delivery.body, after)).toBe(delivery.headers['x-carrel-signature']);
  }
});

test('a rotation without overlap ends the secret before at once', async () => {
  const { id, secret: before } = await register();
  const { secret: after } = (await tenant.admin.post(`/webhooks/${id}/secret`, { overlap_hours: 0 })).body;
  await emitGrades(tenant, 1);

  const [delivery] = await arrived(1);

  expect(delivery && [standard(delivery, before), standard(delivery, after)]).toEqual([false, true]);
});

test('a test goes to its webhook alone, in the exact shape of one of its events, about nothing that there is', async () => {
  await register({ events: ['user.created'] });
  const { id, secret } = await register({ events: ['user.created', 'grade.submitted'] });

  const first = await tenant.admin.post(`/webhooks/${id}/test`);
  const second = await tenant.admin.post(`/webhooks/${id}/test`, { event: 'grade.submitted' });
  const refused = await tenant.admin.post(`/webhooks/${id}/test`, { event: 'file.created' });

  const [user, grade] = [...(await arrived(2))].toSorted((a, b) => (a.event < b.event ? 1 : -1));
  expect([first.status, second.status, refused.status]).toEqual([202, 202, 400]);
  expect(user).toMatchObject({
    event: 'user.created',
    id: first.body.message_id,
    data: { id: '00000000-0000-0000-0000-000000000000' },
  });
  expect(grade).toMatchObject({ event: 'grade.submitted', id: second.body.message_id });
  for (const each of [user, grade]) {
    expect(each && EVENTS[each.event as keyof typeof EVENTS].safeParse(each.data).success).toBe(true);
    expect(each && standard(each, secret)).toBe(true);
  }
  const shown = await waitFor('the delivery to be shown', async () => {
    const { body } = await tenant.admin.get(`/webhooks/${id}/deliveries/${first.body.id}`);
    return body.status === 'delivered' && body;
  });
  expect(shown).toEqual({
    ...first.body,
    status: 'delivered',
    attempts: [{ at: expect.stringMatching(/Z$/), status_code: 204, error: null }],
    ended_at: expect.stringMatching(/Z$/),
    next_attempt_at: null,
    payload: user?.body,
  });
  expect(receiver.received).toHaveLength(2);
});

test('200 replays at once are 200 deliveries of the same id and bytes', async () => {
  const { id } = await register({ events: ['grade.submitted'] });
  await emitGrades(tenant, 1);
  await arrived(1);
  const [delivery] = (await tenant.admin.get(`/webhooks/${id}/deliveries`)).body.data;

  const replay = () => untilServed(() => tenant.admin.post(`/webhooks/${id}/deliveries/${delivery.id}/replay`));
  const replies = await Promise.all(range(200).map(replay));

  expect(countBy(replies, ({ status }) => status)).toEqual({ 202: 200 });
  const received = await arrived(201);
  expect(new Set(received.map((each) => `${each.id} ${each.body}`)).size).toBe(1);
  expect(new Set(replies.map(({ body }) => body.id)).size).toBe(200);
});

test('the replay of a range sends what did not arrive, each once however often it is asked, in bounded steps', async () => {
  const { id } = await register({ events: ['grade.submitted'] });
  await emitGrades(tenant, 3);
  await arrived(3);
  receiver.answer({ status: 500 });
  const lost = await emitGrades(tenant, 10);
  const failed = async (): Promise<unknown[]> =>
    (await tenant.admin.get(`/webhooks/${id}/deliveries`, { query: { status: 'failed' } })).body.data;
  await waitFor('all to fail', async () => (await failed()).length === 10);
  receiver.answer({ status: 204 });
  const before = receiver.received.length;
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const replay = (input: object = {}) => tenant.admin.post(`/webhooks/${id}/replay`, { since, ...input });

  const first = await replay({ limit: 4 });
  const next = await replay({ limit: 4, cursor: first.body.next_cursor });
  const racing = await Promise.all(range(5).map(() => replay()));
  await arrived(before + 10);
  const nothing = await replay();

  expect(first).toMatchObject({ status: 202, body: { replayed: 4, has_more: true, next_cursor: expect.any(String) } });
  expect(next.body).toMatchObject({ replayed: 4, has_more: true });
  expect(countBy(racing, ({ body }) => body.replayed)).toEqual({ 0: 4, 2: 1 });
  expect(nothing.body).toEqual({ replayed: 0, has_more: false, next_cursor: null });
  expect(
    receiver.received
      .slice(before)
      .map(({ id: event }) => event)
      .toSorted(),
  ).toEqual(lost.toSorted());
  expect((await replay({ until: since })).status).toBe(400);
  expect((await replay({ cursor: 'x' })).status).toBe(400);
});

test('delivered events are replayed page by page, to an end', async () => {
  const { id } = await register({ events: ['grade.submitted'] });
  const ids = await emitGrades(tenant, 7);
  await arrived(7);
  await waitFor(
    'all to end',
    async () => (await tenant.admin.get(`/webhooks/${id}/deliveries`, { query: { status: 'delivered' } })).body.data.length === 7,
  );
  const input = { since: new Date(Date.now() - 3_600_000).toISOString(), status: 'delivered', limit: 3 };

  const counts: number[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { body } = await tenant.admin.post(`/webhooks/${id}/replay`, { ...input, ...(cursor === undefined ? {} : { cursor }) });
    counts.push(body.replayed);
    cursor = body.next_cursor;
    await arrived(7 + counts.reduce((sum, count) => sum + count, 0));
  }

  expect(counts).toEqual([3, 3, 1]);
  expect(Object.values(countBy(receiver.received, (each) => each.id))).toEqual(ids.map(() => 2));
});

test('a webhook that is not active is neither tested nor replayed to, and says why', async () => {
  const { id } = await register({ events: ['grade.submitted'] });
  await emitGrades(tenant, 1);
  await arrived(1);
  const [delivery] = (await tenant.admin.get(`/webhooks/${id}/deliveries`)).body.data;
  await tenant.admin.patch(`/webhooks/${id}`, { active: false });

  const replies = [
    await tenant.admin.post(`/webhooks/${id}/test`),
    await tenant.admin.post(`/webhooks/${id}/deliveries/${delivery.id}/replay`),
    await tenant.admin.post(`/webhooks/${id}/replay`, { since: '2020-01-01T00:00:00Z' }),
  ];

  expect(replies.map(({ status, body }) => [status, body.error])).toEqual(replies.map(() => [409, 'conflict']));
  expect(replies[0]?.body.message).toMatch(/not active/);
});

test('a webhook that is deleted while deliveries are under way gets no more of them, and nothing waits for ever', async () => {
  const { id } = await register({ events: ['grade.submitted'] });
  receiver.answer({ status: 500, headers: { 'retry-after': '5' } }); // none comes to its end before it is canceled
  await emitGrades(tenant, 30);
  await arrived(10);

  expect((await tenant.admin.delete(`/webhooks/${id}`)).status).toBe(204);

  await waitFor('the rest to be canceled', async () => (await states(id)).every(({ state }) => state !== 'pending'));
  const [later] = await emitGrades(tenant, 1);
  expect(countBy(await states(id), ({ state }) => state)).toMatchObject({ canceled: expect.any(Number) });
  // What was on its way at the deletion may still arrive.
  expect(receiver.received.map((each) => each.id)).not.toContain(later);
});

const states = (endpoint: string) =>
  tenant.db.query<{ state: string }>('SELECT state FROM carrel.deliveries WHERE endpoint = $1', [endpoint]);

test('the list of deliveries goes newest first, page by page, by status, event and time', async () => {
  const { id } = await register({ events: ['grade.submitted', 'user.created'] });
  const ids = await emitGrades(tenant, 5);
  await arrived(5);
  await tenant.user();
  await arrived(6);
  const list = async (query: Record<string, string | number> = {}) =>
    (await tenant.admin.get(`/webhooks/${id}/deliveries`, { query })).body;
  await waitFor('all to end', async () => (await list({ status: 'pending' })).data.length === 0);

  const all = await list();
  const pages: { message_id: string }[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { data, pagination } = await list({ limit: 4, ...(cursor === undefined ? {} : { cursor }) });
    pages.push(...data);
    cursor = pagination.next_cursor;
  }

  expect(pages).toEqual(all.data);
  expect(all.data.map(({ event }: { event: string }) => event)).toEqual(['user.created', ...ids.map(() => 'grade.submitted')]);
  expect((await list({ sort: 'created_at' })).data).toEqual(all.data.toReversed());
  expect((await list({ event: 'user.created' })).data).toEqual(all.data.slice(0, 1));
  const [{ created_at: until }, { created_at: since }] = all.data;
  const between = ({ created_at }: { created_at: string }): boolean => created_at >= since && created_at < until;
  expect((await list({ since, until })).data).toEqual(all.data.filter(between));
  expect((await list({ status: 'failed' })).data).toEqual([]);
  expect((await tenant.admin.get(`/webhooks/${id}/deliveries`, { query: { status: 'lost' } })).status).toBe(400);
});

/** The first block of code of a language in docs/receive-webhooks.md that holds `text`. */
function example(language: string, text: string): string {
  const blocks = readFileSync(join(ROOT, 'docs/receive-webhooks.md'), 'utf8').matchAll(/```(\w+)\n([\s\S]*?)```/g);
  const found = [...blocks].find(([, of, code]) => of === language && code?.includes(text))?.[2];
  if (found === undefined) throw new Error(`docs/receive-webhooks.md has no ${language} example with ${text}`);
  return found;
}

test('the shell example of docs/receive-webhooks.md accepts a genuine delivery and rejects a forged one', async () => {
  const { secret } = await register({ secret: 'of the example' });
  await emitGrades(tenant, 1);
  const [delivery] = await arrived(1);
  const run = (input: string): number | null =>
    spawnSync('sh', ['-c', example('sh', 'openssl')], {
      input,
      env: { ...programEnvironment(), SECRET: 'of the example', SIGNATURE: delivery?.headers['x-carrel-signature'] },
    }).status;

  expect(secret).toBeDefined();
  expect([run(delivery?.body ?? ''), run(`${delivery?.body} `)]).toEqual([0, 1]);
});

test('the Node example of docs/receive-webhooks.md takes a delivery and refuses a forged one', async () => {
  const [port, { secret }] = [await freePort(), await register()];
  const child = spawn(process.execPath, ['--input-type=module', '--eval', example('js', 'standardwebhooks')], {
    cwd: ROOT,
    env: { ...programEnvironment(), SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = `http://127.0.0.1:${port}/`;
    const forged = await waitFor('the example to listen', async () => (await fetch(url, { method: 'POST', body: '{}' })).status);
    const said = once(child.stdout, 'data');
    const { id } = await register({ url, secret, events: ['user.created'] });
    const { message_id } = (await tenant.admin.post(`/webhooks/${id}/test`)).body;

    expect(String(await said)).toBe(`${message_id} user.created 00000000-0000-0000-0000-000000000000\n`);
    expect(forged).toBe(400);
  } finally {
    child.kill();
  }
});
