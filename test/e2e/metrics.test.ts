import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { readSettings } from '../../pkg/local/state-directory.ts';
import { ROOT } from '../support/backends.ts';
import { getJson, platform } from '../support/platform.ts';

/** The metrics that the running programs offer, and the tables of docs/operate.md. */
const where = await platform();
const PAGE = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');
const addresses: Record<string, string> = {};

beforeAll(async () => {
  const settings = readSettings(where.stateDirectory);
  if (!settings) throw new Error(`${where.stateDirectory} has no settings`);
  addresses['operator'] = `${settings.address}:${settings.ports.operatorOps}`;
  addresses['worker'] = `${settings.address}:${settings.ports.workerOps}`;
  const { items } = await getJson<{ items: { status: { podIP: string; phase: string } }[] }>(where, 'pods', '-n', 'carrel-demo');
  const pod = items.find(({ status }) => status.phase === 'Running');
  if (!pod) throw new Error('no pod of a demo tenant runs');
  addresses['server'] = `${pod.status.podIP}:9090`;
});

/** The names that a scrape shows, without those of every Node.js program. */
async function scraped(program: string): Promise<string[]> {
  const response = await fetch(`http://${addresses[program]}/metrics`);
  expect(response.status).toBe(200);
  return [...(await response.text()).matchAll(/^# TYPE (\w+) /gm)]
    .map(([, name = '']) => name)
    .filter((name) => !/^(process|nodejs)_/.test(name))
    .toSorted();
}

function documented(program: string): string[] {
  const [, table = ''] = new RegExp(`<!-- metrics:${program} -->([\\s\\S]*?)<!-- /metrics -->`).exec(PAGE) ?? [];
  return [...table.matchAll(/^\| `(\w+)/gm)].map(([, name = '']) => name).toSorted();
}

test.each(['operator', 'worker', 'server'])('docs/operate.md lists every metric of the %s, and no other', async (program) => {
  expect(documented(program)).toEqual(await scraped(program));
});
