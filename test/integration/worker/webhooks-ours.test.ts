import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { formatSealingKeys } from '../../../pkg/runtime/sealing.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { startServerProcess } from '../../faults/server-process.ts';
import { Api } from '../../support/clients/api.ts';
import { type GatheredSpan, startTraceReceiver, type TraceReceiver } from '../../support/fakes/otlp.ts';
import { freePort } from '../../support/backends/ports.ts';
import { startReceiver } from '../../support/fakes/receiver.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addWebhook, emitGrades, sealOf } from '../../support/clients/webhooks.ts';
import { startWorkerProcess } from '../../support/programs/worker-process.ts';
import { webhookSuite } from '../../support/suites/worker-suite.ts';

/** These tests break our side of a delivery. Each has one attempt, since the next would be in ten minutes. */
const SETTINGS = { CARREL_WEBHOOK_TIMEOUT_SECONDS: '6', CARREL_WEBHOOK_RETRY_SECONDS: '600' };

const { platform, worker, tenant, receiver } = webhookSuite(SETTINGS);

/** Restarts the worker with other settings or keys. */
async function restart(settings: Readonly<Record<string, string>> = {}, platformKeys?: string): Promise<void> {
  await worker.end('SIGTERM');
  await worker.start(settings, platformKeys);
}

interface Row {
  readonly state: string;
  readonly leases: number;
  readonly log: readonly { readonly status_code: number | null; readonly error: string | null }[];
  /** Seconds, by Postgres' clock. */
  readonly wait: number | null;
}

const deliveries = (endpoint: string): Promise<Row[]> =>
  tenant.db.query(
    `SELECT state, attempts AS leases, log, extract(epoch FROM due_at - now())::float8 AS wait
     FROM carrel.deliveries WHERE endpoint = $1 ORDER BY id`,
    [endpoint],
  );

const tried = (endpoint: string, count: number): Promise<Row[]> =>
  waitFor(`an attempt of each of ${count} deliveries`, async () => {
    const rows = await deliveries(endpoint);
    return rows.length === count && rows.every(({ log }) => log.length > 0) && rows;
  });

test('an unforeseen error of an attempt is recorded, delays it, blames no receiver, and blocks no other', async () => {
  const broken = await addWebhook(tenant, { url: receiver.url });
  const headers = sealOf(tenant).seal(broken, 'headers', 'null');
  await tenant.db.query('UPDATE webhooks SET headers = $2 WHERE uuid = $1', [broken, headers]);
  await emitGrades(tenant, 10);
  await addWebhook(tenant, { url: receiver.url });

  const ids = await emitGrades(tenant, 5);

  await waitFor('the 5 of the healthy one', () => receiver.received.length === 5);
  expect(receiver.received.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  for (const { state, log, wait } of await tried(broken, 15)) {
    expect({ state, log }).toEqual({
      state: 'pending',
      log: [{ at: expect.stringMatching(/Z$/), status_code: null, error: 'internal error' }],
    });
    expect(wait).toBeGreaterThan(400);
  }
  expect(await tenant.db.tables.webhooks.find({ uuid: broken })).toMatchObject({
    failingSince: null,
    lastDeliveryAt: null,
    active: true,
  });
});

test('a worker with the wrong key delays deliveries and blames no receiver; with the right key it delivers', async () => {
  await restart({}, formatSealingKeys([{ id: 'p1', key: systemRandom.bytes(32) }]));
  const endpoint = await addWebhook(tenant, { url: receiver.url });
  await tenant.db.query(`UPDATE webhooks SET failing_since = now() - interval '6 days' WHERE uuid = $1`, [endpoint]);
  await emitGrades(tenant, 1);

  const [put] = await waitFor('the third attempt to be put off', async () => {
    const rows = await deliveries(endpoint);
    return rows.every(({ leases, wait }) => leases >= 3 && (wait ?? 0) > 0) && rows;
  });
  expect(put).toMatchObject({ state: 'pending', log: [] });
  expect(await tenant.db.tables.webhooks.find({ uuid: endpoint })).toMatchObject({ active: true, lastDeliveryAt: null });
  await restart();

  await waitFor('the delivery', () => receiver.received.length === 1);
});

test.each([-2, 2])('a worker whose clock is %i hours off keeps the schedule', async (hours) => {
  const shifted = `const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { super(...(given.length === 0 ? [Date.now()] : given)); }
      static now() { return Real.now() + ${hours * 3_600_000}; }
    };`;
  await restart({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shifted)}` });
  const endpoint = await addWebhook(tenant, { url: receiver.url });
  receiver.answer({ status: 500 });
  await emitGrades(tenant, 1);

  const [row] = await tried(endpoint, 1);

  expect(row).toMatchObject({ state: 'pending', leases: 1 });
  expect(row?.wait).toBeGreaterThan(600 * 0.8 - 60);
  expect(row?.wait).toBeLessThan(600 * 1.2);
});

test('a Redis that loses everything while 8 requests are running repeats none of them', async () => {
  await restart({ CARREL_WEBHOOK_TIMEOUT_SECONDS: '60' });
  const endpoint = await addWebhook(tenant, { url: receiver.url });
  receiver.answer('stall', 8);
  const ids = await emitGrades(tenant, 8);
  await waitFor('8 requests', () => receiver.received.length === 8);
  const [other, beside] = [await platform.tenant(), await startReceiver()];
  await addWebhook(other, { url: beside.url });

  for (const url of [platform.stores.redis.adminUrl, platform.stores.redis.queueUrl]) {
    const redis = new Redis(url);
    await redis.flushall();
    redis.disconnect();
  }
  await emitGrades(other, 1);

  await waitFor("another's delivery after it", () => beside.received.length === 1, 45_000); // while the 8 are still under way
  const rows = await tried(endpoint, 8);
  expect(receiver.received.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect(rows.map(({ leases }) => leases)).toEqual(range(8).map(() => 1));
  await beside.close();
});

interface TracedPrograms {
  readonly traces: TraceReceiver;
  readonly api: Api;
  /** Returns the lines that both have logged so far. */
  lines(): Record<string, unknown>[];
}

/** Does `work` with server and worker that send traces. */
async function withTraces(work: (programs: TracedPrograms) => Promise<void>): Promise<void> {
  const traces = await startTraceReceiver();
  let log = '';
  const note = (text: string): void => void (log += text);
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: traces.endpoint, CARREL_LOG_LEVEL: 'info' };
  const port = await freePort();
  await worker.end('SIGTERM');
  const programs = [await startWorkerProcess(platform, settings, note), await startServerProcess(tenant, port, settings, note)];
  try {
    const { email, password } = tenant.administrator;
    const api = await new Api(`http://127.0.0.1:${port}/api/v1`).login(email, password);
    const lines = () => log.split('\n').slice(0, -1);
    await work({ traces, api, lines: () => lines().map((line) => JSON.parse(line) as Record<string, unknown>) });
  } finally {
    await Promise.all(programs.map((program) => program.end('SIGTERM')));
    await Promise.all([traces.close(), worker.start()]);
  }
}

test('an upload is one trace from client to receiver, log lines name it, and requests go on when no collector takes traces', () =>
  withTraces(async ({ traces, api, lines }) => {
    await addWebhook(tenant, { url: receiver.url, events: ['file.created', 'file.updated'] });
    const traceId = systemRandom.hex(16);
    const traceparent = `00-${traceId}-${systemRandom.hex(8)}-00`;
    const ofTrace = (id: string) => traces.spans.filter((span) => span.traceId === id);
    const whole = (id: string, names: readonly (string | RegExp)[]): Promise<GatheredSpan[]> =>
      waitFor(
        `the spans of ${names.join()}`,
        () => {
          const found = names.map((name) =>
            ofTrace(id).find((span) => (typeof name === 'string' ? span.name === name : name.test(span.name))),
          );
          return found.every((span) => span !== undefined) && found;
        },
        30_000,
      );

    const { body: file } = await api.upload('/files', {
      file: Buffer.from('secret text'),
      name: 'named.txt',
      headers: { traceparent },
    });
    const names = ['POST /files', 'S3.PutObject', 'content-store', 'send file.created', 'process delivery', 'POST'];
    const [request, object, statement, event, delivery, post] = await whole(traceId, names);

    expect([request?.parentSpanId, request?.kind]).toEqual([traceparent.split('-')[2], 2]);
    expect([object, statement, event].map((span) => span?.parentSpanId)).toEqual(
      [request, request, request].map((span) => span?.spanId),
    );
    expect([delivery?.parentSpanId, post?.parentSpanId]).toEqual([event?.spanId, delivery?.spanId]);
    expect([request, delivery].map((span) => span?.service)).toEqual(['carrel-server', 'carrel-worker']);
    expect(receiver.received[0]?.headers.traceparent).toBe(`00-${traceId}-${post?.spanId}-01`);
    expect(request?.attributes).toMatchObject({ 'http.route': '/files', 'http.response.status_code': 201 });
    // A transaction of several statements: its events have the request's trace too.
    const renamed = systemRandom.hex(16);
    const headers = { traceparent: `00-${renamed}-${systemRandom.hex(8)}-01` };
    expect((await api.patch(`/files/${file.id}`, { name: 'other.txt' }, { headers })).status).toBe(200);
    await whole(renamed, ['PATCH /files/{id}', /^UPDATE files$/, 'send file.updated', 'process delivery']);
    // An invalid traceparent begins a new trace.
    const before = new Set(traces.spans.map((span) => span.traceId));
    await api.get('/users/me?a=typed', {
      headers: { traceparent: `00-${traceId}-${'0'.repeat(16)}-01`, tracestate: 'a=b'.repeat(1_000) },
    });
    const own = await waitFor('the trace of its own', () => traces.spans.find((span) => span.name === 'GET /users/me'));

    expect([before.has(own.traceId), own.parentSpanId]).toEqual([false, '']);
    expect(JSON.stringify(traces.spans)).not.toMatch(/secret text|named\.txt|other\.txt|typed|a=b/);
    await waitFor('the line of the request', () =>
      lines().some(({ msg, route, trace_id: id }) => msg === 'request' && route === '/files' && id === traceId),
    );
    // The worker logs a delivery that fails by our own fault.
    const broken = await addWebhook(tenant, { url: receiver.url, events: ['file.deleted'] });
    await tenant.db.query('UPDATE webhooks SET headers = $2 WHERE uuid = $1', [
      broken,
      sealOf(tenant).seal(broken, 'headers', 'null'),
    ]);
    const deleted = systemRandom.hex(16);
    await api.delete(`/files/${file.id}`, { headers: { traceparent: `00-${deleted}-${systemRandom.hex(8)}-01` } });
    await waitFor('a line of the worker', () =>
      lines().some(({ program, trace_id: id }) => program === 'worker' && id === deleted),
    );

    traces.behave('silent');
    const replies = await Promise.all(range(20).map(() => api.get('/users/me')));
    expect(replies.map(({ status }) => status)).toEqual(range(20).map(() => 200));
  }));
