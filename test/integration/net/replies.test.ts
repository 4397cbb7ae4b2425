import type { ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from '@jest/globals';
import { waitFor } from '../../support/wait.ts';
import { Net, refusal } from './harness.ts';

const net = new Net();
afterAll(() => net.close());

/** Only one of the bounds is short, so that a slow machine does not pass another first. */
const patient = { connectMs: 60_000, firstByteMs: 60_000, timeoutMs: 60_000 };
const SHORT_BEGIN = { limits: { ...patient, firstByteMs: 300 } };
const SHORT_WHOLE = { limits: { ...patient, timeoutMs: 2_000 } };

/** Writes on until the other side ends the connection; `done` gets the number of bytes that were taken. */
function writeForever(socket: Socket, chunk: string): void {
  const timer = setInterval(() => socket.write(chunk), 5);
  socket.on('close', () => clearInterval(timer));
}

test('a request is sent with method, path, query, headers and body, and the complete reply is returned', async () => {
  const port = await net.http((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(202, { 'content-type': 'application/json', 'x-twice': ['a', 'b'] });
      response.end(
        JSON.stringify({
          line: `${request.method} ${request.url}`,
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
  });

  const reply = await net.client().request({
    url: `http://receiver.localhost:${port}/hook?x=%20y`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'webhook-id': 'evt_1' },
    body: '{"event":"file.created"}',
  });

  expect(reply).toMatchObject({
    status: 202,
    isCut: false,
    headers: { 'content-type': 'application/json', 'x-twice': ['a', 'b'] },
  });
  expect(JSON.parse(reply.body.toString())).toEqual({
    line: 'POST /hook?x=%20y',
    headers: {
      host: `receiver.localhost:${port}`,
      connection: 'keep-alive',
      'user-agent': 'Carrel',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'content-length': '24',
      'webhook-id': 'evt_1',
    },
    body: '{"event":"file.created"}',
  });
});

test.each([
  ['HTTP/1.1 409 Refusing score with an earlier timestamp', 'Refusing score with an earlier timestamp'],
  ['HTTP/1.1 409', ''],
  [`HTTP/1.1 409 ${'x'.repeat(5000)}`, 'x'.repeat(1000)],
])('the reason of the status line %j comes with the reply', async (line, reason) => {
  const port = await net.raw((socket) => socket.end(`${line}\r\ncontent-length: 2\r\n\r\n[]`));

  const reply = await net.client().request({ url: `http://127.0.0.1:${port}/` });

  expect([reply.status, reply.statusText, reply.body.toString()]).toEqual([409, reason, '[]']);
});

test.each([301, 302, 303, 307, 308])('a redirect (%i) is an answer and not followed', async (status) => {
  const asked: (string | undefined)[] = [];
  const port = await net.http((request, response) => {
    asked.push(request.url);
    response.writeHead(status, { location: '/inside' }).end();
  });

  const reply = await net.client().request({ url: `http://localhost:${port}/start` });

  expect({ status: reply.status, location: reply.headers.location, asked }).toEqual({
    status,
    location: '/inside',
    asked: ['/start'],
  });
});

test('connections are reused, and at most the limit of an origin is open', async () => {
  let connections = 0;
  let open = 0;
  let most = 0;
  const server = (await import('node:http')).createServer((_, response) => setTimeout(() => response.end('ok'), 20));
  server.on('connection', (socket) => {
    connections++;
    most = Math.max(most, ++open);
    socket.on('close', () => open--);
  });
  const port = await net.listen(server);
  const client = net.client({ limits: { connectionsPerOrigin: 2 } });

  await Promise.all(Array.from({ length: 10 }, () => client.request({ url: `http://localhost:${port}/` })));

  expect({ connections, most }).toEqual({ connections: 2, most: 2 });
});

test.each([
  ['says nothing', () => undefined],
  ['drips its headers', (socket: Socket) => (socket.write('HTTP/1.1 200 OK\r\n'), writeForever(socket, 'x: y\r\n'))],
  ['sends interim replies for ever', (socket: Socket) => writeForever(socket, 'HTTP/1.1 102 Processing\r\n\r\n')],
])('a server that %s is a timeout at the first byte', async (_, behave: (socket: Socket) => unknown) => {
  const port = await net.raw((socket) => void behave(socket));
  const started = performance.now();

  const error = await refusal(net.client(SHORT_BEGIN).request({ url: `http://localhost:${port}/` }));

  expect(error).toMatchObject({ code: 'timeout', message: 'localhost did not begin to reply within 300 ms', status: undefined });
  expect(performance.now() - started).toBeLessThan(patient.timeoutMs);
});

test.each([
  ['stops in the middle of its body', (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc')],
  ['drips its body', (socket: Socket) => (socket.write('HTTP/1.1 200 OK\r\n\r\n'), writeForever(socket, 'x'))],
])('a server that %s is a timeout of the whole, with the status it gave', async (_, behave: (socket: Socket) => unknown) => {
  const port = await net.raw((socket) => void behave(socket));

  const error = await refusal(net.client(SHORT_WHOLE).request({ url: `http://localhost:${port}/` }));

  expect(error).toMatchObject({ code: 'timeout', message: 'localhost did not finish its reply within 2000 ms', status: 200 });
});

test('a body without end is refused at its bound, or cut there, and the connection ends', async () => {
  let ended = 0;
  const port = await net.raw((socket) => {
    socket.on('close', () => ended++);
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const pump = (): void => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'x')));
    };
    socket.on('drain', pump);
    pump();
  });
  const url = `http://localhost:${port}/`;

  expect(await refusal(net.client().request({ url, maxBytes: 1_000 }))).toMatchObject({ code: 'reply_too_large', status: 200 });
  const cut = await net.client().request({ url, maxBytes: 1_000, whenTooLarge: 'cut' });

  expect(cut).toMatchObject({ status: 200, isCut: true, body: Buffer.alloc(1_000, 'x') });
  await waitFor('both connections to end', () => ended === 2);
});

test('a body announced as too long is refused unread; one of exactly the bound is taken', async () => {
  const port = await net.http((request, response) => response.end(Buffer.alloc(Number(request.url?.slice(1)))));
  const client = net.client();

  expect(await refusal(client.request({ url: `http://localhost:${port}/1001`, maxBytes: 1_000 }))).toMatchObject({
    code: 'reply_too_large',
  });
  expect((await client.request({ url: `http://localhost:${port}/1000`, maxBytes: 1_000 })).body).toHaveLength(1_000);
  expect((await client.request({ url: `http://localhost:${port}/1001`, maxBytes: 1_000, method: 'HEAD' })).status).toBe(200);
});

test('a gzip bomb stays as small as it came', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const port = await net.http((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));

  const reply = await net.client().request({ url: `http://localhost:${port}/`, maxBytes: 100_000 });

  expect(reply.body.equals(bomb)).toBe(true);
  expect(reply.headers['content-encoding']).toBe('gzip');
});

test.each([
  ['one huge header', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, 'reply_too_large'],
  ['headers without end', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}\r\n`, 'reply_too_large'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.7\r\n', 'bad_reply'],
  ['+PONG', '+PONG\r\n', 'bad_reply'],
  ['a switch of protocols that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', 'bad_reply'],
  [
    'two contradicting lengths',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'connection_lost',
  ],
])('a reply of %s is refused', async (_, bytes, code) => {
  const port = await net.raw((socket) => socket.write(bytes));

  expect(await refusal(net.client().request({ url: `http://localhost:${port}/`, method: 'POST', body: 'x' }))).toMatchObject({
    code,
  });
});

test.each([
  ['at once', ''],
  ['within the headers', 'HTTP/1.1 200 OK\r\nconten'],
  ['within the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'],
  ['within a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\nabc'],
])('a connection that is reset %s is lost, not a reply', async (_, bytes) => {
  const port = await net.raw((socket) => socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 20)));
  const closing = await net.raw((socket) => socket.end(bytes));

  for (const each of [port, closing]) {
    expect(await refusal(net.client().request({ url: `http://localhost:${each}/` }))).toMatchObject({ code: 'connection_lost' });
  }
});

test('a refused connection and a lost one are reported as different errors', async () => {
  const closed = createServer();
  const port = await net.listen(closed);
  await new Promise((resolve) => closed.close(resolve));

  expect(await refusal(net.client().request({ url: `http://localhost:${port}/` }))).toMatchObject({
    code: 'connect_failed',
    message: `localhost accepts no connection on port ${port}`,
  });
});

test('a caller that gives up ends the request and its connection; one that already gave up sends nothing', async () => {
  let ended = false;
  const stop = new AbortController();
  const port = await net.raw((socket) => {
    socket.on('close', () => (ended = true));
    stop.abort();
  });

  expect(await refusal(net.client().request({ url: `http://localhost:${port}/`, signal: stop.signal }))).toMatchObject({
    code: 'aborted',
  });
  await waitFor('the connection to end', () => ended);
  expect(await refusal(net.client().request({ url: `http://localhost:${port}/`, signal: stop.signal }))).toMatchObject({
    code: 'aborted',
  });
});

test.each(['Host', 'connection', 'Content-Length', 'transfer-encoding', 'Upgrade', 'proxy-authorization', 'Expect'])(
  'the header %s is not the caller’s to set',
  async (name) => {
    const error = await refusal(net.client().request({ url: 'http://localhost:1/', headers: { [name]: 'x' } }));

    expect(error).toMatchObject({ code: 'request_refused' });
  },
);

test('headers that would break out of their line are refused, without their value in the message', async () => {
  const error = await refusal(net.client().request({ url: 'http://localhost:1/', headers: { 'x-a': 'secret\r\nx-b: 1' } }));

  expect(error.code).toBe('request_refused');
  expect(error.message).not.toContain('secret');
});

test('a proxy of the environment is not used', async () => {
  const port = await net.http((_, response) => response.end('direct'));
  const proxy = { HTTP_PROXY: 'http://127.0.0.1:1', http_proxy: 'http://127.0.0.1:1', NODE_USE_ENV_PROXY: '1' };
  Object.assign(process.env, proxy);
  try {
    expect((await net.client().request({ url: `http://localhost:${port}/` })).body.toString()).toBe('direct');
  } finally {
    // The object itself stays: what is put into a copy would reach neither child processes nor os.tmpdir.
    for (const name of Object.keys(proxy)) delete process.env[name];
  }
});

test('a closed client finishes running requests and accepts no more', async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const port = await net.http((_, response) => asked.resolve(response));
  const client = net.client();

  const running = client.request({ url: `http://localhost:${port}/` });
  const response = await asked.promise;
  const closing = client.close();
  response.end('late');
  await closing;

  expect((await running).body.toString()).toBe('late');
  expect(await refusal(client.request({ url: `http://localhost:${port}/` }))).toMatchObject({ code: 'aborted' });
});

test('requests are counted by outcome', async () => {
  const counted = new Net();
  const port = await counted.http((request, response) => response.writeHead(Number(request.url?.slice(1))).end());
  const client = counted.client();
  for (const path of [200, 204, 302, 410, 503]) await client.request({ url: `http://localhost:${port}/${path}` });
  await refusal(client.request({ url: 'https://10.0.0.1/' }));

  expect(await counted.outcomes()).toEqual({ '2xx': 2, '3xx': 1, '4xx': 1, '5xx': 1, address_refused: 1 });
  await counted.close();
});
