import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '../../runtime/clock.ts';
import { closeServer, listen } from '../../runtime/ops-server.ts';
import { type Probe, type ProbeTarget, tryProbe, watchProbe } from './probes.ts';

let server: Server;
let port: number;
let statusCode = 200;
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/hangs') return;
    response.writeHead(request.url === '/headers' && request.headers['x-probe'] !== 'yes' ? 400 : statusCode).end();
  });
  await listen(server, 0, '127.0.0.1');
  ({ port } = server.address() as AddressInfo);
});
afterAll(async () => {
  server.closeAllConnections();
  await closeServer(server);
});

const target = (): ProbeTarget => ({
  container: { name: 'server', ports: [{ name: 'http', containerPort: 8080 }] },
  address: { ip: '127.0.0.1', ports: { '8080': port } },
  exec: async ([code]) => Number(code),
});

/** For cases that do not test the time-out. */
const PATIENT = { timeoutSeconds: 60 };

test.each<[string, Probe, string | undefined]>([
  ['httpGet by the port’s name', { httpGet: { path: '/', port: 'http' }, ...PATIENT }, undefined],
  [
    'httpGet with headers',
    { httpGet: { path: '/headers', port: 8080, httpHeaders: [{ name: 'x-probe', value: 'yes' }] }, ...PATIENT },
    undefined,
  ],
  ['httpGet that hangs', { httpGet: { path: '/hangs', port: 8080 }, timeoutSeconds: 0.1 }, 'no answer within 100 ms'],
  ['httpGet of an unknown port', { httpGet: { path: '/', port: 'web' } }, 'container server has no port named web'],
  ['tcpSocket', { tcpSocket: { port: 8080 }, ...PATIENT }, undefined],
  ['tcpSocket where nobody listens', { tcpSocket: { port: 1 }, ...PATIENT }, 'connect ECONNREFUSED 127.0.0.1:1'],
  ['exec that exits 0', { exec: { command: ['0'] } }, undefined],
  ['exec that exits 3', { exec: { command: ['3'] } }, 'command exited with 3'],
])('%s', async (_, probe, failure) => {
  const tried = tryProbe(probe, target());

  if (failure === undefined) await expect(tried).resolves.toBeUndefined();
  else await expect(tried).rejects.toThrow(failure);
});

test('an answer of 400 or above fails', async () => {
  statusCode = 503;
  await expect(tryProbe({ httpGet: { path: '/', port: 'http' }, ...PATIENT }, target())).rejects.toThrow('statuscode: 503');
  statusCode = 200;
});

test('a failure is reported after failureThreshold tries in a row, a success after the first pass', async () => {
  const reported: string[] = [];
  const over = new AbortController();
  let code = 0;
  const probe: Probe = { exec: { command: [] }, periodSeconds: 0.01, failureThreshold: 3 };
  let tries = 0;
  const counting: ProbeTarget = { ...target(), exec: async () => (tries++, code) };

  const watching = watchProbe({
    probe,
    target: counting,
    clock: systemClock,
    signal: over.signal,
    onSuccess: () => {
      reported.push(`passed after ${tries}`);
      tries = 0;
      code = 1;
    },
    onFailure: (why) => {
      reported.push(`failed after ${tries}: ${why}`);
      over.abort();
    },
  });
  await watching;

  expect(reported).toEqual(['passed after 1', 'failed after 3: command exited with 1']);
});

test('eager probing finds a container ready sooner, but fails it no sooner', async () => {
  const over = new AbortController();
  const began = performance.now();
  let failedAfter = 0;

  await watchProbe({
    probe: { exec: { command: ['1'] }, periodSeconds: 0.1, failureThreshold: 3 },
    target: target(),
    clock: systemClock,
    signal: over.signal,
    eagerMs: 5,
    onSuccess: () => {},
    onFailure: () => {
      failedAfter = performance.now() - began;
      over.abort();
    },
  });

  expect(failedAfter).toBeGreaterThanOrEqual(295);
});
