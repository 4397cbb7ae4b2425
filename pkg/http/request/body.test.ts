import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { mock } from 'node:test';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { BODIES_BYTES_MAX, JSON_BODY_TIMEOUT_MS, JSON_BYTES_MAX } from '../size-and-time-limits.ts';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { readBody, readBytes } from './body.ts';
import { readForm } from './form.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] }));
afterEach(() => mock.timers.reset());

const JSON_ENDPOINT: Endpoint = endpoint({
  method: 'post',
  path: '/things',
  operationId: 'createThing',
  summary: 'Create a thing',
  caller: 'user',
  body: z.object({ name: z.string() }),
  replies: { 204: null },
  handle: () => Promise.resolve({ status: 204 }),
});

function request(type: string): IncomingMessage & PassThrough {
  return Object.assign(new PassThrough(), { headers: { 'content-type': type } }) as unknown as IncomingMessage & PassThrough;
}

test.each<[string, string, (sent: IncomingMessage) => Promise<unknown>]>([
  ['JSON', 'application/json', (sent) => readBody(sent, JSON_ENDPOINT, 'somebody')],
  ['a form', 'application/x-www-form-urlencoded', (sent) => readForm(sent, 'somebody')],
])('%s that is not whole after 30 seconds is a 408, however steadily it drips', async (_what, type, read) => {
  const sent = request(type);
  const refusal = read(sent).then(
    () => undefined,
    (error: unknown) => error,
  );
  for (let second = 0; second < JSON_BODY_TIMEOUT_MS / 1000; second += 1) {
    sent.write('{');
    await new Promise(setImmediate);
    mock.timers.tick(1000);
  }

  expect(await refusal).toMatchObject({ code: 'request_timeout', status: 408 });
  expect(sent.isPaused() || sent.listenerCount('data') === 0).toBe(true);
});

test('a truncated body is a 400', async () => {
  const sent = request('application/json');
  const read = readBody(sent, JSON_ENDPOINT, 'somebody');
  sent.write('{"name":');
  sent.destroy();

  await expect(read).rejects.toMatchObject({ code: 'validation_failed', message: 'The body ended before its Content-Length.' });
});

test('a JSON body is returned with its bytes', async () => {
  const sent = request('application/json');
  const read = readBody(sent, JSON_ENDPOINT, 'somebody');
  sent.end('{ "name": "a" }');

  expect(await read).toEqual({ kind: 'json', value: { name: 'a' }, bytes: Buffer.from('{ "name": "a" }') });
});

test('a body holds its share of the memory until it is parsed', async () => {
  const parsing = Promise.withResolvers<void>();
  const send = (parse: () => Promise<void>): Promise<void> => {
    const sent = request('application/json');
    const read = readBytes(sent, { owner: 'a slow parser', maxBytes: JSON_BYTES_MAX }, parse);
    sent.end(Buffer.alloc(JSON_BYTES_MAX, ' '));
    return read;
  };
  const parsed: Promise<void>[] = [];
  const begun: Promise<void>[] = [];
  for (let bytes = 0; bytes + JSON_BYTES_MAX <= BODIES_BYTES_MAX / 3; bytes += JSON_BYTES_MAX) {
    const { promise, resolve } = Promise.withResolvers<void>();
    begun.push(promise);
    parsed.push(send(() => (resolve(), parsing.promise)));
  }
  await Promise.all(begun);

  await expect(send(() => Promise.resolve())).rejects.toMatchObject({ code: 'unavailable', status: 503 });
  parsing.resolve();
  await Promise.all(parsed);
  await send(() => Promise.resolve());
});
