import { once } from 'node:events';
import { request as httpRequest, Agent, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';

const tenant = serverSuite();

/** A connection on which one request was answered and that is kept. */
async function kept(): Promise<Socket> {
  const socket = connect(Number(new URL(tenant.url).port), '127.0.0.1');
  socket.write('HEAD /api/v1/users/me HTTP/1.1\r\nHost: x\r\n\r\n');
  let text = '';
  while (!text.endsWith('\r\n\r\n')) text += String((await once(socket, 'data'))[0]);
  return socket;
}

const replyOn = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.on('error', (error) => (text += error.message));
    socket.on('close', () => resolve(text));
  });

test('a request on a keep-alive connection at SIGTERM is answered, and its reply closes the connection', async () => {
  const sockets = await Promise.all(range(20).map(kept));
  const replies = sockets.map(replyOn);

  for (const socket of sockets) socket.write('GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\n\r\n');
  await tenant.restart();

  const texts = await Promise.all(replies);
  expect(countBy(texts, (text) => text.split('\r\n')[0] ?? '')).toEqual({ 'HTTP/1.1 401 Unauthorized': 20 });
  expect(texts.every((text) => /^connection: close/im.test(text))).toBe(true);
});

test.each<[string, () => Promise<void>]>([
  ['a stop', () => tenant.restart()],
  [
    'a stop in whose beginning the server stands still',
    () => {
      const restarted = tenant.restart();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
      return restarted;
    },
  ],
])('clients that keep asking on kept connections lose no request to %s', async (_what, stop) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const ask = (): Promise<number | string> =>
    new Promise((resolve) => {
      const sent = httpRequest(`${tenant.apiUrl}/users/me`, { agent }, (response: IncomingMessage) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', (error) => resolve(sent.reusedSocket ? error.message : 'not let in')).end();
    });
  const answers: (number | string)[] = [];
  const stopped = new AbortController();
  const clients = range(8).map(async () => {
    while (!stopped.signal.aborted) answers.push(await ask());
  });

  await waitFor('the clients to be at it', () => answers.length > 8);
  await stop();
  stopped.abort();
  await Promise.all(clients);
  agent.destroy();

  const counts = countBy(answers, (answer) => answer);
  expect(counts['401']).toBeGreaterThan(8);
  expect(Object.keys(counts).filter((answer) => answer !== '401' && answer !== 'not let in')).toEqual([]);
});

test('connections that are idle or on which nothing was ever sent do not hold up a stop', async () => {
  const idle = await kept();
  const unused = connect(Number(new URL(tenant.url).port), '127.0.0.1');
  await once(unused, 'connect');
  const started = performance.now();

  await tenant.restart();

  expect(performance.now() - started).toBeLessThan(19_000); // held up it would be the 20 s that requests under way have
  idle.destroy();
  unused.destroy();
});
