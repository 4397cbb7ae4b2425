import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { readSettings } from '../../pkg/local/state-directory.ts';
import { ROOT } from '../support/backends/backends.ts';
import { getJson, platform } from '../support/programs/platform.ts';
import { waitFor } from '../support/wait.ts';

/** The metrics that the running programs offer, and the tables of docs/operate/monitor.md. */
const where = await platform();
const PAGE = readFileSync(join(ROOT, 'docs/operate/monitor.md'), 'utf8');
const addresses: Record<string, string> = {};

interface Pod {
  readonly spec: {
    readonly containers: readonly { readonly ports?: readonly { readonly name: string; readonly containerPort: number }[] }[];
  };
  readonly status: { readonly podIP: string; readonly phase: string };
}

beforeAll(async () => {
  const settings = readSettings(where.stateDirectory);
  if (!settings) throw new Error(`${where.stateDirectory} has no settings`);
  addresses['operator'] = `${settings.address}:${settings.ports.operatorOps}`;
  addresses['worker'] = `${settings.address}:${settings.ports.workerOps}`;
  const { items } = await getJson<{ items: Pod[] }>(where, 'pods', '-n', 'carrel-demo');
  const pod = items.find(({ status }) => status.phase === 'Running');
  if (!pod) throw new Error('no pod of a demo tenant runs');
  addresses['server'] = `${pod.status.podIP}:9090`;
  const { containerPort } = pod.spec.containers.flatMap(({ ports = [] }) => ports).find(({ name }) => name === 'http') ?? {};
  // A first request, which begins the series of requests.
  await fetch(`http://${pod.status.podIP}:${containerPort}/api/v1/files`);
});

interface Metric {
  readonly name: string;
  /** Sorted. */
  readonly labels: readonly string[];
}

/** Scrapes a program, without the metrics of every Node.js program. A metric without a series has no labels. */
async function scraped(program: string): Promise<(Metric & { readonly series: number })[]> {
  const response = await fetch(`http://${addresses[program]}/metrics`);
  expect(response.status).toBe(200);
  const text = await response.text();
  return [...text.matchAll(/^# TYPE (\w+) (\w+)/gm)]
    .filter(([, name = '']) => !/^(process|nodejs)_/.test(name))
    .map(([, name = '', type]) => {
      const series = [
        ...text.matchAll(new RegExp(`^${name}${type === 'histogram' ? '_(?:bucket|sum|count)' : ''}\\{([^}]*)\\} `, 'gm')),
      ];
      const labels = series.flatMap(([, inside = '']) => [...inside.matchAll(/(\w+)="/g)].map(([, label = '']) => label));
      return {
        name,
        labels: [...new Set(labels)].filter((label) => !['program', 'le'].includes(label)).toSorted(),
        series: series.length,
      };
    });
}

function documented(program: string): Metric[] {
  const [, table = ''] = new RegExp(`<!-- metrics:${program} -->([\\s\\S]*?)<!-- /metrics -->`).exec(PAGE) ?? [];
  return [...table.matchAll(/^\| `(\w+)(?:\{([\w,]*)\})?`/gm)].map(([, name = '', labels = '']) => ({
    name,
    labels: labels
      .split(',')
      .filter((label) => label !== '')
      .toSorted(),
  }));
}

const namesOf = (metrics: readonly Metric[]): string[] => metrics.map(({ name }) => name).toSorted();

test.each([
  ['operator', ['controller_runtime_reconcile_total', 'rest_client_requests_total', 'workqueue_depth', 'carrel_tenant_bytes']],
  ['worker', ['carrel_integrity_faults_total', 'carrel_sweeps_refused_total']],
  ['server', ['http_request_duration_seconds', 'http_requests_without_redis_total']],
])('docs/operate/monitor.md lists every metric of the %s with its labels, and no other', async (program, always) => {
  const listed = documented(program);
  const labelsOf = new Map(listed.map(({ name, labels }) => [name, labels]));
  const found = await waitFor(`series of ${always.join()}`, async () => {
    const metrics = await scraped(program);
    return always.every((name) => metrics.some((metric) => metric.name === name && metric.series > 0)) ? metrics : undefined;
  });

  expect(namesOf(listed)).toEqual(namesOf(found));
  const withSeries = found.filter(({ series }) => series > 0).map(({ name, labels }) => ({ name, labels }));
  expect(withSeries).toEqual(withSeries.map(({ name }) => ({ name, labels: labelsOf.get(name) })));
});
