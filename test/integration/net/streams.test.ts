import { createHash } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import { EgressError } from '../../../pkg/net/egress-error.ts';
import type { StreamedRequest } from '../../../pkg/net/client.ts';
import type { StreamedReply } from '../../../pkg/net/streamed-exchange.ts';
import { heldBeyond, restingBytes } from '../../support/measures/memory.ts';
import { waitFor } from '../../support/wait.ts';
import { Net } from './harness.ts';

const net = new Net();
afterAll(() => net.close());

const MIB = 1024 * 1024;

async function* chunks(bytes: number, size = 65_536): AsyncGenerator<Buffer> {
  for (let left = bytes; left > 0; left -= size) yield Buffer.alloc(Math.min(size, left), left % 251);
}

const request = (port: number, changed: Partial<StreamedRequest> = {}): StreamedRequest => ({
  url: `http://127.0.0.1:${port}/optimize`,
  body: chunks(MIB),
  contentLength: MIB,
  maxBytes: 512 * MIB,
  silenceMs: 60_000,
  timeoutMs: 60_000,
  ...changed,
});

/** Returns the error of a streamed request, before the reply's headers or in its body. */
async function failure(streaming: Promise<StreamedReply>): Promise<unknown> {
  try {
    const { body } = await streaming;
    for await (const _ of body) continue;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

const codeOf = async (streaming: Promise<StreamedReply>): Promise<string> => {
  const error = await failure(streaming);
  if (error instanceof EgressError) return error.code;
  throw error;
};

test('256 MiB go there and come back without staying in memory', async () => {
  const port = await net.http(
    (incoming, response) => void incoming.pipe(response.writeHead(200, { 'content-type': 'application/pdf' })),
  );
  const [sent, came] = [createHash('sha256'), createHash('sha256')];
  const source = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of chunks(256 * MIB)) {
      sent.update(chunk);
      yield chunk;
    }
  };
  const before = await restingBytes();

  const { status, body } = await net.client().stream(request(port, { body: source(), contentLength: 256 * MIB }));
  let [bytes, lookedAt, most] = [0, 0, 0];
  for await (const chunk of body as AsyncIterable<Buffer>) {
    came.update(chunk);
    bytes += chunk.length;
    if (bytes - lookedAt < 32 * MIB) continue;
    lookedAt = bytes;
    most = Math.max(most, await heldBeyond(before, 16 * MIB));
  }

  expect([status, bytes, came.digest('hex')]).toEqual([200, 256 * MIB, sent.digest('hex')]);
  expect(most).toBeLessThan(16 * MIB);
});

test('a reader who stands still holds the peer up, and is no silence of the peer’s', async () => {
  let written = 0;
  const port = await net.http((incoming, response) => {
    incoming.resume();
    const more = (): void => {
      while (written < 32 * MIB && !response.destroyed) {
        written += 65_536;
        if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });

  const { body } = await net.client().stream(request(port, { silenceMs: 1_000 }));
  body.once('readable', () => undefined);
  let seen = -1;
  await waitFor('the peer to stand still', () => {
    const stands = seen === written && written > 0;
    seen = written;
    return stands;
  });
  expect(written).toBeLessThan(32 * MIB);
  await new Promise((resolve) => setTimeout(resolve, 1_500)); // longer than the silence that is allowed
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) bytes += chunk.length;
  expect(bytes).toBe(32 * MIB);
});

test('a source that takes its time is no silence of the peer’s, and what it throws is what the request fails by', async () => {
  const port = await net.http((incoming, response) => {
    incoming.resume().once('end', () => response.end('well'));
  });
  const slow = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from('a');
    // longer than the silence that is allowed: the length of the pause is what is tested
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    yield Buffer.from('b');
  };
  const { body } = await net.client().stream(request(port, { body: slow(), contentLength: 2, silenceMs: 1_000 }));
  expect((await body.toArray()).join('')).toBe('well');

  const broken = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from('a');
    throw new Error('the store is unavailable');
  };
  expect(await failure(net.client().stream(request(port, { body: broken(), contentLength: 2 })))).toEqual(
    new Error('the store is unavailable'),
  );
});

test.each([
  ['takes nothing of the request', async () => net.http((incoming) => void incoming.pause()), 'timeout'],
  ['takes all and answers nothing', async () => net.http((incoming) => void incoming.resume()), 'timeout'],
  ['stops in its reply', async () => net.http((incoming, response) => void (incoming.resume(), response.write('a'))), 'timeout'],
  ['drops the connection', async () => net.http((incoming) => void incoming.socket.destroy()), 'connection_lost'],
  [
    'ends its reply too soon',
    async () =>
      net.http((incoming, response) => {
        incoming.resume();
        response.writeHead(200, { 'content-length': 10 }).write('a', () => response.socket?.destroy());
      }),
    'connection_lost',
  ],
  ['is no web server', async () => net.raw((socket) => socket.end('hello\r\n\r\n')), 'bad_reply'],
  [
    'never ends',
    async () =>
      net.http((incoming, response) => {
        incoming.resume();
        const more = (): void => void (!response.destroyed && response.write(Buffer.alloc(65_536), () => setImmediate(more)));
        more();
      }),
    'reply_too_large',
  ],
  [
    'announces too much',
    async () => net.http((_, response) => void response.writeHead(200, { 'content-length': 600 * MIB }).write('a')),
    'reply_too_large',
  ],
] as const)('a peer that %s', async (_what, listen, code) => {
  const port = await listen();
  // More than a connection's buffers take.
  const sending = { body: chunks(16 * MIB), contentLength: 16 * MIB };
  // In the other cases this process may stand still for a while without a time-out.
  const silenceMs = code === 'timeout' ? 300 : 60_000;

  expect(await codeOf(net.client().stream(request(port, { ...sending, silenceMs, maxBytes: 4 * MIB })))).toBe(code);
});

test.each([
  ['before the reply', false],
  ['in it', true],
])('an abort %s ends the connection at once', async (_when, begins) => {
  const [arrived, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const port = await net.http((incoming, response) => {
    incoming.resume();
    response.once('close', () => closed.resolve());
    if (begins) response.write('a');
    arrived.resolve();
  });
  const leave = new AbortController();

  const streaming = net.client().stream(request(port, { signal: leave.signal }));
  const ended = codeOf(streaming);
  await arrived.promise;
  if (begins) await streaming;
  leave.abort();

  expect(await ended).toBe('aborted');
  await closed.promise;
});

test('an early refusal is the answer to an unfinished request; an unwanted body ends the connection', async () => {
  let isClosed = false;
  const port = await net.http((incoming, response) => {
    incoming.socket.once('close', () => (isClosed = true));
    response.writeHead(413, { connection: 'close' }).end('too large');
    setTimeout(() => incoming.resume(), 50); // else Node would not see that the client is gone
  });

  const { status, body } = await net.client().stream(request(port, { body: chunks(16 * MIB), contentLength: 16 * MIB }));

  expect(status).toBe(413);
  body.destroy();
  await waitFor('the end of the connection', () => isClosed);
});

test('no private address is asked, and none that a redirect names', async () => {
  const asked: (string | undefined)[] = [];
  const port = await net.http((incoming, response) => {
    asked.push(incoming.url);
    incoming.resume();
    response.writeHead(307, { location: '/inside' }).end();
  });

  expect(await codeOf(net.client({ allow: [] }).stream(request(port)))).toBe('address_refused');
  const { status, body } = await net.client().stream(request(port));
  body.destroy();
  expect([status, asked]).toEqual([307, ['/optimize']]);
});
