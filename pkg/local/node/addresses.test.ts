import { createServer, type AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import type { Pod } from '../../kube/kinds.ts';
import { freePort } from '../ports.ts';
import { PodAddresses } from './addresses.ts';

const podWith = (uid: string, ...ports: number[]): Pod => ({
  metadata: { uid },
  spec: { containers: [{ name: 'server', ports: ports.map((containerPort) => ({ containerPort })) }] },
});
const program = createServer();
afterEach(() => new Promise((resolve) => program.close(resolve)));

test('a port that a program of the machine holds on all addresses is replaced by a free one, the others stay', async () => {
  await new Promise<void>((resolve) => program.listen(0, '0.0.0.0', resolve));
  const { port: taken } = program.address() as AddressInfo;
  const free = await freePort('127.77.77.10');
  const addresses = new PodAddresses('127.77.77', '127.77.77.1');

  const [first, second] = await Promise.all([addresses.assign(podWith('a', taken, free)), addresses.assign(podWith('b', free))]);

  expect(first).toEqual({ ip: '127.77.77.10', ports: { [taken]: expect.any(Number) } });
  expect(first?.ports[taken]).not.toBe(taken);
  expect(second).toEqual({ ip: '127.77.77.11', ports: {} });
});
