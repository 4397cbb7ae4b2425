import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { commandOf } from '../../hack/node/node.ts';
import { waitFor } from '../support/wait.ts';
import { inSystem } from './in-system.ts';
import type { Installation } from './installation.ts';

/** Beyond these something is wrong; design.md says 20 s and 2 s, on a machine that does nothing else. */
const MOST_MS = { kill: 40_000, stop: 20_000 };

/**
 * The leader is killed with -9, then its successor is stopped as by an upgrade: each time the other one leads. Prints how long it
 * took.
 */
export async function operatorIsTakenOver(carrel: Installation): Promise<void> {
  const { cluster, say } = carrel;
  const killed = await leaderOf(carrel);
  const pid = cluster.containers.find((each) => commandOf(each).includes('cmd/operator/main.js') && hostOf(each) === killed.pod);
  assert.ok(pid, `no process of the pod ${killed.pod}`);
  const afterKill = await timed(carrel, killed.identity, MOST_MS.kill, () => Promise.resolve(process.kill(pid, 'SIGKILL')));
  await carrel.rolledOut();
  const stopped = await leaderOf(carrel);
  const afterStop = await timed(carrel, stopped.identity, MOST_MS.stop, () =>
    inSystem(carrel, 'delete', 'pod', stopped.pod, '--wait=false'),
  );
  await carrel.rolledOut();
  say(`another operator leads ${seconds(afterKill)} after kill -9, ${seconds(afterStop)} after a stop`);
}

const leaseOf = (carrel: Installation): Promise<string> =>
  inSystem(carrel, 'get', 'lease', 'carrel-operator', '-o', 'jsonpath={.spec.holderIdentity}');

/** An identity begins with the pod's name. */
async function leaderOf(carrel: Installation): Promise<{ identity: string; pod: string }> {
  const identity = await waitFor('a leader', async () => (await leaseOf(carrel)) || undefined);
  const names = await inSystem(carrel, 'get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}');
  const pod = names.split(' ').find((name) => identity.startsWith(name));
  assert.ok(pod, `no pod holds the Lease as ${identity}`);
  return { identity, pod };
}

async function timed(carrel: Installation, former: string, mostMs: number, end: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await end();
  await waitFor('another leader', async () => !['', former].includes(await leaseOf(carrel)), mostMs);
  return performance.now() - began;
}

const hostOf = (pid: number): string | undefined =>
  /(?:^|\0)HOSTNAME=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1];

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
