import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../../support/backends/ports.ts';
import { startReceiver } from '../../support/fakes/receiver.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { countBy, waitFor } from '../../support/wait.ts';
import { addWebhook, ALL_EVENTS, emitGrades } from '../../support/clients/webhooks.ts';
import { Net } from '../net/harness.ts';
import { webhookSuite } from '../../support/suites/worker-suite.ts';

/**
 * Allows one attempt each: the next would come after ten minutes. The time-out is long enough for a receiver on a busy machine.
 */
const SETTINGS = { CARREL_WEBHOOK_TIMEOUT_SECONDS: '5', CARREL_WEBHOOK_RETRY_SECONDS: '600' };

const { platform, worker, tenant } = webhookSuite(SETTINGS);
const net = new Net();
afterEach(() => net.close());

interface Outcome {
  readonly status: string;
  readonly status_code: number | null;
  readonly error: string | null;
  /** Seconds until the next attempt; null: there is none. */
  readonly wait: number | null;
}

/** Returns a delivery after its first attempt, as REST shows it. */
async function outcomeAt(url: string): Promise<Outcome> {
  const endpoint = await addWebhook(tenant, { url });
  await emitGrades(tenant, 1);
  const delivery = await waitFor(`an attempt at ${url}`, async () => {
    const { body } = await tenant.admin.get(`/webhooks/${endpoint}/deliveries`);
    return body.data[0]?.attempts.length > 0 && body.data[0];
  });
  const [{ status_code, error }] = delivery.attempts;
  const wait = delivery.next_attempt_at === null ? null : (Date.parse(delivery.next_attempt_at) - Date.now()) / 1000;
  return { status: delivery.status, status_code, error, wait };
}

const at = (port: number, scheme = 'http'): string => `${scheme}://127.0.0.1:${port}/hook`;

test('a receiver that takes the delivery and never answers is given up after the time-out', async () => {
  const port = await net.http(() => undefined);

  expect(await outcomeAt(at(port))).toMatchObject({
    status: 'pending',
    status_code: null,
    error: '127.0.0.1 did not finish its reply within 5000 ms',
  });
});

test('a yes is a yes although its body drips without end', async () => {
  const port = await net.http((_request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('.'), 100);
    response.on('close', () => clearInterval(drip));
  });

  expect(await outcomeAt(at(port))).toEqual({ status: 'delivered', status_code: 200, error: null, wait: null });
});

test('only the beginning of a huge body is read', async () => {
  let sent = 0;
  const port = await net.http((_request, response) => {
    response.writeHead(202);
    const chunk = Buffer.alloc(64 * 1024);
    const more = (): void => {
      while (sent < 1024 ** 3 && !response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
    };
    more();
  });

  expect(await outcomeAt(at(port))).toMatchObject({ status: 'delivered', status_code: 202, error: null });
  expect(sent).toBeLessThan(64 * 1024 ** 2);
});

test('headers without end are cut off and count as a failure', async () => {
  const port = await net.raw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const more = setInterval(() => socket.write(`x-more: ${'a'.repeat(4096)}\r\n`), 5);
    socket.on('close', () => clearInterval(more));
  });

  expect(await outcomeAt(at(port))).toMatchObject({
    status: 'pending',
    status_code: null,
    error: '127.0.0.1 sent more headers than are accepted',
  });
});

test('a redirect is a failure and is not followed', async () => {
  let asked = 0;
  const target = await net.http((_request, response) => {
    asked += 1;
    response.end();
  });
  const port = await net.http((_request, response) => void response.writeHead(307, { location: at(target) }).end());

  expect(await outcomeAt(at(port))).toMatchObject({ status: 'pending', status_code: 307, error: 'the receiver answered 307' });
  expect(asked).toBe(0);
});

test('no TLS, a refusal, an unknown name and a private address each say so in the attempt', async () => {
  const plain = await net.http((_request, response) => void response.end());
  const errors = {
    tls: await outcomeAt(at(plain, 'https')),
    name: await outcomeAt('https://receiver.invalid/hook'),
    privateAddress: await outcomeAt('https://localhost:8443/hook'),
  };
  await net.close();
  const refused = await outcomeAt(at(await freePort()));

  for (const outcome of [...Object.values(errors), refused]) {
    expect(outcome).toMatchObject({ status: 'pending', status_code: null });
    expect(outcome.wait).toBeGreaterThan(400);
  }
  expect(errors.tls.error).toMatch(/TLS/i);
  expect(errors.name.error).toMatch(/receiver\.invalid/);
  expect(errors.privateAddress.error).toMatch(/localhost/);
  expect(refused.error).toMatch(/127\.0\.0\.1/);
});

test.each([
  ['seconds', () => '3000'],
  ['a date', () => new Date(Date.now() + 3_000_000).toUTCString()],
])('Retry-After in %s puts the next attempt off', async (_what, header) => {
  const port = await net.http((_request, response) => void response.writeHead(429, { 'retry-after': header() }).end());

  const outcome = await outcomeAt(at(port));

  expect(outcome).toMatchObject({ status: 'pending', status_code: 429 });
  expect(outcome.wait).toBeGreaterThan(2_900);
  expect(outcome.wait).toBeLessThan(3_001);
});

test('a tenant whose receiver stalls under 80 deliveries does not hold up another tenant', async () => {
  const [port, other, receiver] = [await net.http(() => undefined), await platform.tenant(), await startReceiver()];
  await addWebhook(tenant, { url: at(port) });
  await addWebhook(other, { url: receiver.url });
  await emitGrades(tenant, 80, 8);

  await emitGrades(other, 20);

  // Behind all 80, eight at a time, it would be 50 s.
  await waitFor('all of the other', () => receiver.received.length === 20, 40_000);
  const all = new RegExp(`carrel_webhook_deliveries_total\\{[^}]*tenant="${other.slug}"[^}]*result="delivered"[^}]*\\} 20`);
  const metrics = await waitFor('the count of all', async () => {
    const text = await worker.metrics();
    return all.test(text) && text;
  });
  expect(metrics).toMatch(new RegExp(`carrel_webhook_latency_seconds_count\\{[^}]*tenant="${other.slug}"[^}]*\\} 20`));
  expect(metrics).toMatch(/carrel_webhook_oldest_seconds\{[^}]*\} [\d.]+/);
  await receiver.close();
});

describe('what an earlier attempt finds does not speak for the present when it', () => {
  const CASES = [
    [
      'fails after a later one has succeeded',
      { before: [], first: 'stall', later: 204 },
      { failing: false, last_status_code: 204 },
    ],
    [
      'fails after a later one has succeeded unnoted',
      { before: [204], first: 'stall', later: 200 },
      { failing: false, last_status_code: 204 },
    ],
    ['succeeds after a later one has failed', { before: [], first: 204, later: 500 }, { failing: true, last_status_code: 500 }],
  ] as const;
  const overtaken: { readonly tenant: TestTenant; readonly id: string }[] = [];

  /** An earlier attempt that ends after a later one; gives the webhook of both. */
  const overtake = async (tenant: TestTenant, { before, first, later }: (typeof CASES)[number][1]): Promise<string> => {
    const asked: ServerResponse[] = [];
    const port = await receivers.http((_request, response) => void asked.push(response));
    const id = await addWebhook(tenant, { url: at(port) });
    const begin = async (): Promise<ServerResponse> => {
      const already = asked.length;
      await emitGrades(tenant, 1);
      return waitFor('the request', () => asked[already]);
    };
    const attempts = async (): Promise<number> =>
      (await tenant.admin.get(`/webhooks/${id}/deliveries`)).body.data.flatMap(
        ({ attempts }: { attempts: unknown[] }) => attempts,
      ).length;
    for (const status of before) {
      (await begin()).writeHead(status).end();
      await waitFor('what was before', async () => (await tenant.admin.get(`/webhooks/${id}`)).body.last_status_code === status);
    }

    const earlier = await begin();
    (await begin()).writeHead(later).end();
    await waitFor('the end of the later attempt', async () => (await attempts()) === before.length + 1);
    if (first !== 'stall') earlier.writeHead(first).end();
    await waitFor('the end of the earlier attempt', async () => (await attempts()) === before.length + 2);
    return id;
  };

  // All beside each other, each in a tenant of its own: they mostly wait.
  const receivers = new Net();
  beforeAll(async () => {
    // The earlier attempt goes on for longer than a busy machine takes for the later one.
    await worker.end('SIGTERM');
    await worker.start({ CARREL_WEBHOOK_TIMEOUT_SECONDS: '25' });
    const tenants: TestTenant[] = [];
    for (const _ of CASES) tenants.push(await platform.tenant());
    overtaken.push(
      ...(await Promise.all(
        CASES.map(async ([, what], index) => {
          const tenant = tenants[index]!;
          return { tenant, id: await overtake(tenant, what) };
        }),
      )),
    );
    await worker.end('SIGTERM'); // what was to be noted has been
    await worker.start();
  }, 300_000);
  afterAll(() => receivers.close());

  test.each(CASES.map(([what, , expected], index) => [what, index, expected] as const))('%s', async (_what, index, expected) => {
    const { tenant, id } = overtaken[index]!;
    const { failing_since, last_status_code } = (await tenant.admin.get(`/webhooks/${id}`)).body;

    expect({ failing: failing_since !== null, last_status_code }).toEqual(expected);
  });
});

test('a 410 of the address before the present one disables nothing', async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const port = await net.http((_request, response) => asked.resolve(response));
  const { id } = (await tenant.admin.post('/webhooks', { url: at(port), events: ALL_EVENTS })).body;
  await emitGrades(tenant, 1);
  const response = await asked.promise;

  expect((await tenant.admin.patch(`/webhooks/${id}`, { url: `${at(port)}/new` })).status).toBe(200);
  response.writeHead(410).end();
  await waitFor(
    'the delivery to fail',
    async () => (await tenant.admin.get(`/webhooks/${id}/deliveries`)).body.data[0]?.status === 'failed',
  );
  await worker.end('SIGTERM'); // what was to be noted has been
  await worker.start();

  expect((await tenant.admin.get(`/webhooks/${id}`)).body).toMatchObject({
    active: true,
    disabled_reason: null,
    last_status_code: null,
  });
});

test('a stalling delivery among eight that a worker gets together holds up no other', async () => {
  const requests: Promise<number>[] = [];
  let answered = 0;
  const port = await net.http((_request, response) => {
    const isFirst = requests.length === 0;
    requests.push(new Promise((resolve) => response.on('close', () => resolve(answered))));
    if (isFirst) return;
    response.writeHead(204).end();
    answered += 1;
  });
  const id = await addWebhook(tenant, { url: at(port) });

  await emitGrades(tenant, 8, 8);
  const deliveries = await waitFor('an attempt at each', async () => {
    const { data } = (await tenant.admin.get(`/webhooks/${id}/deliveries`)).body as {
      data: { status: string; attempts: unknown[] }[];
    };
    return data.length === 8 && data.every(({ attempts }) => attempts.length === 1) && data;
  });

  expect(await requests[0]).toBe(7);
  expect(countBy(deliveries, ({ status }) => status)).toEqual({ delivered: 7, pending: 1 });
});
