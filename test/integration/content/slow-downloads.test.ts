import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { startServerProcess } from '../../faults/server-process.ts';
import { Api } from '../../support/clients/api.ts';
import { freePort } from '../../support/backends/ports.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { inParallel, range, waitFor } from '../../support/wait.ts';

const MIB = 1 << 20;
const LINKS = 100;
/** More than the server gives to links. */
const ATTEMPTS = 560;
const BY_LINKS = 500;

const tenant = serverSuite();

/** Resident memory of a process, in MiB. */
const memoryOf = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

test('100 links and as many slow readers as like neither end a server nor keep a member from a download', async () => {
  const port = await freePort();
  // These are the settings of a pod.
  const server = await startServerProcess(tenant, port, { NODE_OPTIONS: '--max-semi-space-size=2', CARREL_TRUSTED_PROXIES: '1' });
  const sockets: Socket[] = [];
  /** Reads the first bytes and nothing more; gives the status. */
  const begin = async (token: string, from: string): Promise<string> => {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.push(socket.on('error', () => undefined));
    socket.write(`GET /api/v1/s/${token}/download HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Forwarded-For: ${from}\r\n\r\n`);
    const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
    socket.pause();
    return first.subarray(9, 12).toString();
  };
  try {
    const { administrator } = tenant;
    const member = await new Api(`http://127.0.0.1:${port}/api/v1`).login(administrator.email, administrator.password);
    const { user, password } = await tenant.user();
    const others = await new Api(member.url).login(user.email, password);
    const links: string[] = [];
    for (const api of [member, others]) {
      const { body } = await api.upload('/files', { file: Buffer.alloc(16 * MIB), name: 'large' });
      await inParallel(
        range(LINKS / 2),
        8,
        async () => void links.push((await api.post(`/files/${body.id}/share`, {})).body.token),
      );
    }
    const { body: small } = await member.upload('/files', { file: Buffer.from('small'), name: 'small' });
    const before = memoryOf(server.pid);

    const statuses: Record<string, number> = {};
    const begun = performance.now();
    await inParallel(range(ATTEMPTS), 25, async (n) => {
      const status = await begin(links[n % LINKS] ?? '', `192.0.2.${n % 3}`);
      statuses[status] = (statuses[status] ?? 0) + 1;
    });
    const started = performance.now();
    const download = await member.get(`/files/${small.id}/download`);

    // Downloads that have run for a minute give way to others; on a slow machine, all that come.
    const isSlow = started - begun > 50_000;
    expect(Object.keys(statuses).filter((status) => !(isSlow && status === '503'))).toEqual(isSlow ? ['200'] : ['200', '503']);
    expect(statuses['200']).toBeGreaterThanOrEqual(BY_LINKS);
    expect([download.status, download.bytes.toString()]).toEqual([200, 'small']);
    expect(performance.now() - started).toBeLessThan(50_000); // behind them it would wait for the minute that they have
    // Its pod has 512 MiB. What they only passed through it is garbage, which V8 collects when it has time.
    expect(memoryOf(server.pid)).toBeLessThan(400);
    await waitFor('a server that holds less than 100 MiB for them', () => memoryOf(server.pid) - before < 100);
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.end('SIGTERM');
  }
});
