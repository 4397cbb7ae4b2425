import { beforeEach, describe, expect, test } from '@jest/globals';
import { BREAKER_LIMITS } from '../../../pkg/helper-services/calls/breakers.ts';
import { HELPER_LIMITS } from '../../../pkg/helper-services/calls/helper-calls.ts';
import { syncHelpers } from '../../../pkg/helper-services/managed-helpers.ts';
import { type Clock, systemClock } from '../../../pkg/runtime/clock.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { testFixture } from '../../support/suites/fixture.ts';
import { type Fault, startHelper, type TestHelper } from '../../support/fakes/helpers/helper.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { range, waitFor } from '../../support/wait.ts';

const FAILURES = 3;
/** The time of breakers passes when a test says so. */
let passedMs = 1_000;
/** Less than the product's where a helper hangs, and nowhere else: a busy machine may be slow. */
let textMs = HELPER_LIMITS.textMs;
const clock: Clock = {
  ...systemClock,
  monotonic: () => passedMs,
  schedule: (ms, run) => systemClock.schedule(ms === HELPER_LIMITS.textMs ? textMs : ms, run),
};
const tenant = serverSuite({ helpers: { breaker: { failures: FAILURES } }, clock });
const helper = testFixture(startHelper, (running) => running.close());

/** Configures the helper as the operator does. */
const configure = (of: TestTenant, url: string | null, token: string | null = 'first-token'): Promise<void> =>
  syncHelpers(of.rows, url === null ? [] : [{ kind: 'translate', url, token }]);

/** A new text each time, so that no cached one is the answer. */
let count = 0;
const newText = (): string => `text ${(count += 1)}`;
const translate = (api: Api, body: object = {}): Promise<ApiReply> =>
  api.post('/translate', { text: newText(), target_language: 'es', ...body });

beforeEach(() => configure(tenant, helper.url));

describe('a text', () => {
  test('is translated by the tenant’s helper, which gets its token', async () => {
    const { status, body } = await translate(tenant.admin, { text: 'good day', source_language: 'EN' });

    expect([status, body]).toEqual([
      200,
      { text: 'GOOD DAY', source_language: 'en', target_language: 'es', provider: 'capitals' },
    ]);
    expect(helper.received).toEqual([
      expect.objectContaining({
        path: '/translate',
        headers: expect.objectContaining({ authorization: 'Bearer first-token', 'content-type': 'application/json' }),
        json: { text: 'good day', target_language: 'es', source_language: 'en' },
      }),
    ]);
  });

  test('goes by a token that is exchanged, and to another address, without a restart', async () => {
    await translate(tenant.admin);
    await configure(tenant, `${helper.url}/`, 'second-token');
    await translate(tenant.admin);
    await configure(tenant, helper.url, null);
    await translate(tenant.admin);

    expect(helper.received.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/translate', 'Bearer first-token'],
      ['/translate', 'Bearer second-token'],
      ['/translate', undefined],
    ]);
  });

  test('that was translated is not asked for again, by nobody of the tenant; another language or helper is', async () => {
    const { api } = await tenant.user();
    const text = newText();
    const first = await translate(tenant.admin, { text });
    helper.answerTextWith({ text: 'something else' });

    const again = [
      await translate(api, { text }),
      await translate(api, { text, target_language: 'ES', source_language: 'auto' }),
      await translate(api, { text, target_language: 'pt-br' }),
      await translate(api, { text, source_language: 'en' }),
    ];

    expect(again.map(({ body }) => body.text)).toEqual([first.body.text, first.body.text, 'something else', 'something else']);
    expect(helper.received.length).toBe(3);
    const keys = await tenant.redisAdmin.keys('*');
    expect(keys.filter((key) => key.includes(text))).toEqual([]);
  });

  test('is of the nearest language that the helper knows, whatever the case, and else of the one that was named', async () => {
    for (const target_language of ['ES-mx', 'pt-BR', 'PT-br', 'zh-TW', 'spa', 'fr-CA'])
      await translate(tenant.admin, { target_language });

    expect(helper.received.map(({ json }) => json?.['target_language'])).toEqual([
      'es',
      'pt-BR',
      'pt-BR',
      'zh-Hant',
      'es',
      'fr-CA',
    ]);
  });

  test.each([
    ['no tag', { target_language: 'no tag' }, 'target_language'],
    ['no tag as its source', { source_language: '-' }, 'source_language'],
    ['nothing', { text: '' }, 'text'],
    ['too much', { text: 'x'.repeat(50_001) }, 'text'],
    ['a field that there is not', { langauge: 'es' }, 'langauge'],
  ])('with %s is a 400 that names the field', async (_what, body, field) => {
    const { status, body: problem } = await translate(tenant.admin, body);

    expect([status, problem.error]).toEqual([400, 'validation_failed']);
    expect(JSON.stringify(problem.details)).toContain(field);
    expect(helper.received).toEqual([]);
  });

  test('of 50,000 characters comes back whole', async () => {
    const text = 'é'.repeat(50_000);
    const { status, body } = await translate(tenant.admin, { text });
    expect([status, body.text]).toEqual([200, text.toUpperCase()]);
  });

  test('is not translated where the tenant has no translator', async () => {
    await configure(tenant, null);
    const { status, body } = await translate(tenant.admin);

    expect([status, body.error]).toEqual([501, 'helper_not_configured']);
    expect(body.message).toContain('spec.helpers.translateUrl');
  });
});

const NO_ANSWER = [503, 'helper_unavailable', true] as const;
const NO_USE = [502, 'helper_rejected', false] as const;

test.each<[Fault, readonly [number, string, boolean]]>([
  ['refuses', NO_ANSWER],
  ['hangs before the reply', NO_ANSWER],
  ['hangs in the reply', NO_ANSWER],
  ['hangs in the request', NO_ANSWER],
  ['drops the connection', NO_ANSWER],
  ['truncates', NO_ANSWER],
  ['answers 500', NO_ANSWER],
  ['answers 503 with Retry-After', NO_ANSWER],
  ['answers 422', NO_USE],
  ['answers 401', NO_USE],
  ['wrong type', NO_USE],
  ['garbage', NO_USE],
  ['no HTTP', NO_USE],
  ['never ends', NO_USE],
  ['redirects', NO_USE],
])('a translator that %s', async (fault, expected) => {
  const own = await startHelper();
  try {
    await configure(tenant, own.url);
    await own.fail(fault);
    if (fault.startsWith('hangs')) textMs = 2_000;
    const { status, body, headers } = await translate(tenant.admin);
    textMs = HELPER_LIMITS.textMs;

    expect([status, body.error, headers['retry-after'] !== undefined]).toEqual(expected);
    expect(JSON.stringify(body)).not.toContain('first-token');
    await waitFor('the end of the request', () => own.running === 0 || fault === 'hangs in the request');
    await own.fail(undefined);
    await waitFor('it to serve again', async () => (await translate(tenant.admin)).status === 200);
  } finally {
    textMs = HELPER_LIMITS.textMs;
    await own.close();
  }
});

test('a translator’s Retry-After and words reach the client, without markup', async () => {
  await helper.fail('answers 503 with Retry-After', 1);
  const busy = await translate(tenant.admin);
  await helper.fail('answers 422', 1);
  const refused = await translate(tenant.admin);

  expect([busy.headers['retry-after'], busy.body.message]).toEqual(['7', 'The translator answered 503: Too many.']);
  expect(refused.body.message).toBe('The translator answered 422: The PDF has no text.');
});

describe('a reply', () => {
  const json = { 'content-type': 'application/json' };
  test.each([
    ['as the contract has it', { text: 'hola', source_language: 'EN', provider: 'p' }, ['hola', 'en', 'p']],
    ['with the text alone', { text: 'hola' }, ['hola', null, null]],
    ['with translated_text', { translated_text: 'hola', source_language: 'en' }, ['hola', 'en', null]],
    ['of LibreTranslate', { translatedText: 'hola', detectedLanguage: { language: 'en', confidence: 90 } }, ['hola', 'en', null]],
    ['of an older LibreTranslate', { translatedText: 'hola' }, ['hola', null, null]],
    ['with more than that', { text: 'hola', alternatives: ['x'], __proto__: 1 }, ['hola', null, null]],
    ['whose language and provider are none', { text: 'hola', source_language: { a: 1 }, provider: ['x'] }, ['hola', null, null]],
    [
      'whose language is no tag',
      { text: 'hola', source_language: '<script>', provider: '<b>me</b>\u202e' },
      ['hola', null, 'me'],
    ],
    ['with a NUL and half a character', { text: 'ho\u0000la\ud800' }, ['hola\ufffd', null, null]],
    ['that is empty text', { text: '' }, ['', null, null]],
  ])('%s is taken', async (_what, body, [text, source, provider]: (string | null)[]) => {
    helper.answerTextWith(body, json);
    const { status, body: view } = await translate(tenant.admin);

    expect([status, view]).toEqual([200, { text, source_language: source, target_language: 'es', provider }]);
  });

  test.each([
    ['no JSON', 'hola', json],
    ['a list', '["hola"]', json],
    ['no text', '{"translation":"hola"}', json],
    ['a number as its text', '{"text":1}', json],
    ['a text that is far too long', JSON.stringify({ text: 'x'.repeat(500_001) }), json],
    ['no type', '{"text":"hola"}', {}],
    ['HTML', '{"text":"hola"}', { 'content-type': 'text/html' }],
    ['JSON nested ten thousand deep', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, json],
  ])('of %s is rejected, and not cached', async (_what, body, headers) => {
    const text = newText();
    helper.answerTextWith(body, headers);
    const refused = await translate(tenant.admin, { text });
    helper.answerTextWith({ text: 'hola' });
    const taken = await translate(tenant.admin, { text });

    expect([refused.status, refused.body.error, taken.status]).toEqual([502, 'helper_rejected', 200]);
  });

  test('of 400 is a 400 in the helper’s own words', async () => {
    const own = await startOwn400('{"error":"language_unknown","message":"No translator here knows <i>tlh</i>; known: en, es"}');
    try {
      await configure(tenant, own.url);
      const { status, body } = await translate(tenant.admin, { target_language: 'tlh' });

      expect([status, body.error, body.details]).toEqual([
        400,
        'validation_failed',
        [{ field: 'target_language', message: 'No translator here knows tlh ; known: en, es' }],
      ]);
    } finally {
      await own.close();
    }
  });
});

describe('the breaker', () => {
  const failing = async (of: TestTenant): Promise<void> => {
    await helper.fail('answers 500');
    for (const _ of range(FAILURES)) expect((await translate(of.admin)).status).toBe(503);
  };

  test('opens after some failures behind each other, closes when one try succeeds, and opens again when that fails', async () => {
    await failing(tenant);
    const asked = helper.received.length;
    const { status, body, headers } = await translate(tenant.admin);
    expect([status, body.error, headers['retry-after'], helper.received.length]).toEqual([
      503,
      'helper_unavailable',
      String(BREAKER_LIMITS.openMs / 1_000),
      asked,
    ]);
    expect((await tenant.admin.get('/helpers')).body.translate).toEqual({ configured: true, available: false });

    passedMs += BREAKER_LIMITS.openMs;
    for (const _ of range(2)) await translate(tenant.admin);
    expect(helper.received.length).toBe(asked + 1);

    await helper.fail(undefined);
    passedMs += BREAKER_LIMITS.openMs;
    expect((await translate(tenant.admin)).status).toBe(200);
    expect((await tenant.admin.get('/helpers')).body.translate).toMatchObject({ configured: true, available: true });
    const metrics = await (await fetch(`${tenant.opsUrl}/metrics`)).text();
    expect(metrics).toMatch(/carrel_helper_breakers_open\{[^}]*helper="translate"[^}]*\} 0/);
    expect(metrics).toMatch(/carrel_helper_call_seconds_count\{[^}]*outcome="breaker_open"[^}]*\} [1-9]/);
  });

  test('is not opened by refusals, however many', async () => {
    await helper.fail('answers 422');
    for (const _ of range(2 * FAILURES)) await translate(tenant.admin);
    expect(helper.received.length).toBe(2 * FAILURES);
    await helper.fail(undefined);
  });
});

test('a helper at a private address that is not allowed is not asked', async () => {
  await configure(tenant, helper.url.replace('127.0.0.1', 'helper.localhost'));
  await tenant.restart({ CARREL_EGRESS_ALLOW: [] });
  const { status, body } = await translate(tenant.admin);
  await tenant.restart();

  expect([status, body.error]).toEqual([502, 'helper_rejected']);
  expect(body.message).toBe('The translator cannot be used: helper.localhost leads to a private address.');
  expect(helper.received).toEqual([]);
});

test('GET /helpers says what is there, whether it answers, and which languages it knows', async () => {
  const gone = await startHelper();
  await gone.close();
  const helpers = [
    { kind: 'translate', url: helper.url, token: null },
    { kind: 'pdf_translate', url: `${helper.url}/`, token: null },
  ] as const;
  await syncHelpers(tenant.rows, helpers);
  const { languages } = helper;
  const both = (await tenant.admin.get('/helpers')).body;
  await syncHelpers(tenant.rows, [{ kind: 'pdf_optimize', url: gone.url, token: null }]);
  const { api } = await tenant.user();
  const other = (await api.get('/helpers')).body;

  const none = { configured: false, available: false };
  expect(both).toEqual({
    translate: { configured: true, available: true, languages },
    pdf_optimize: none,
    pdf_translate: { configured: true, available: true, languages },
  });
  expect(other).toEqual({ translate: none, pdf_optimize: { configured: true, available: false }, pdf_translate: none });
  expect((await tenant.anonymous.get('/helpers')).status).toBe(401);
});

/** A translator that answers 400 with this body. */
async function startOwn400(body: string): Promise<Pick<TestHelper, 'url' | 'close'>> {
  const { createServer } = await import('node:http');
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(400, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}
