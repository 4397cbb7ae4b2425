import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { type Answer, type Hostile, hostile, json, refusal, reset } from '../../test/support/fakes/hostile.ts';
import { isUnavailable, KubeError } from './errors.ts';

let server: Hostile;
afterEach(() => server.close());

const get = (): Promise<unknown> => server.client.request({ method: 'GET', path: '/api/v1/things' });
async function failure(work: Promise<unknown>): Promise<KubeError> {
  const [result] = await Promise.allSettled([work]);
  if (result.status === 'fulfilled') throw new Error('it did not fail');
  return result.reason as KubeError;
}

test('a 429 is retried after the time in Retry-After', async () => {
  server = await hostile([
    refusal(429, 'TooManyRequests', { 'retry-after': '0' }),
    refusal(429, 'TooManyRequests', { 'retry-after': '0' }),
    json({ a: 1 }),
  ]);

  expect(await get()).toEqual({ a: 1 });

  expect(server.calls).toHaveLength(3);
});

test('an endless 429 is passed to the caller after 5 tries', async () => {
  server = await hostile(refusal(429, 'TooManyRequests', { 'retry-after': '0' }));

  expect(await failure(get())).toMatchObject({ status: 429, reason: 'TooManyRequests' });

  expect(server.calls).toHaveLength(5);
});

test('waiting for a 429 ends when the caller gives up', async () => {
  server = await hostile(refusal(429, 'TooManyRequests', { 'retry-after': '9' }));
  const aborter = new AbortController();

  const asking = server.client.request({ method: 'GET', path: '/x', signal: aborter.signal });
  setTimeout(() => aborter.abort(new Error('enough')), 50);

  await expect(asking).rejects.toThrow('enough');
});

test('a refusal carries status, reason, message and details', async () => {
  const details = { kind: 'things', causes: [{ field: 'spec.a', message: 'must be set' }] };
  server = await hostile(json({ kind: 'Status', code: 422, reason: 'Invalid', message: 'no good', details }, 422));

  const error = await failure(get());

  expect(error).toBeInstanceOf(KubeError);
  expect(error).toMatchObject({ status: 422, reason: 'Invalid', message: 'GET /api/v1/things: no good', details });
});

test('a 500 without a Status is reported with its text and not retried', async () => {
  server = await hostile((_request, response) => void response.writeHead(500).end('<html>boom</html>'));

  const error = await failure(get());

  expect(error).toMatchObject({ status: 500, message: 'GET /api/v1/things: <html>boom</html>' });
  expect(isUnavailable(error)).toBe(true);
  expect(server.calls).toHaveLength(1);
});

test('a GET on a broken connection is tried once more, a POST is not', async () => {
  server = await hostile([reset, json({ a: 1 }), reset, json({ a: 2 })]);

  expect(await get()).toEqual({ a: 1 });
  const error = await failure(server.client.request({ method: 'POST', path: '/x', body: {} }));

  expect(error).toMatchObject({ status: 0, reason: 'Unreachable' });
  expect(server.calls).toHaveLength(3);
});

const silent: Answer = () => undefined;
const halfABody: Answer = (_request, response) => void response.writeHead(200, { 'content-length': '100' }).write('{"a":');
const dripping: Answer = (_request, response) => {
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};

test.each([
  ['no answer', silent],
  ['half a body', halfABody],
  ['a body that drips for ever', dripping],
])('%s ends with a timeout', async (_what, answer) => {
  server = await hostile(answer, { requestTimeoutMs: 200 });

  expect(await failure(get())).toMatchObject({ status: 0, reason: 'Timeout' });
});

test('a reply that is not JSON is an error', async () => {
  server = await hostile((_request, response) => void response.end('{"a":'));

  expect(await failure(get())).toMatchObject({ status: 0 });
});

test('a 401 reads the credentials again and tries once more', async () => {
  server = await hostile([
    refusal(401, 'Unauthorized'),
    json({ a: 1 }),
    refusal(401, 'Unauthorized'),
    refusal(401, 'Unauthorized'),
  ]);

  expect(await get()).toEqual({ a: 1 });
  expect(await failure(get())).toMatchObject({ status: 401 });

  expect(server.calls).toHaveLength(4);
});

test('calls are counted by status and method', async () => {
  server = await hostile([json({}), refusal(404, 'NotFound'), reset]);

  await get();
  await failure(get());
  await failure(server.client.request({ method: 'DELETE', path: '/x' }));

  const { values } = await server.metrics.getSingleMetric('rest_client_requests_total')!.get();
  expect(values.map(({ labels, value }) => [labels['code'], labels['method'], value])).toEqual([
    ['200', 'GET', 1],
    ['404', 'GET', 1],
    ['<error>', 'DELETE', 1],
  ]);
});

test('a token in a file is read again when it was replaced', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'token-'));
  const tokenFile = join(dir, 'token');
  writeFileSync(tokenFile, 'old\n');
  const authProvider = { name: 'tokenFile', config: { tokenFile } };
  const byToken: Answer = (request, response, body) =>
    (request.headers.authorization === 'Bearer new' ? json({ a: 1 }) : refusal(401, 'Unauthorized'))(request, response, body);
  server = await hostile(byToken, {}, { name: 'user', authProvider });
  expect(await failure(get())).toMatchObject({ status: 401 });

  writeFileSync(tokenFile, 'new\n');

  expect(await get()).toEqual({ a: 1 });
  rmSync(dir, { recursive: true });
});
