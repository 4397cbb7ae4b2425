import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { ROOT, sources, wordsOf } from './documentation.ts';

/*
 * Alerts and dashboards of the chart ask for metrics and labels that the programs have. docs/operate/monitor.md lists those, and
 * a test compares that list with the running programs (test/e2e/metrics.test.ts).
 */
const FILES = join(ROOT, 'charts/carrel/files');

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly severity: string;
  readonly summary: string;
  readonly for: string;
}
const alerts = (parse(readFileSync(join(FILES, 'alerts.yaml'), 'utf8')) as { groups: { rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);

interface Dashboard {
  readonly uid: string;
  readonly panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
}
const dashboards = readdirSync(join(FILES, 'dashboards')).map((file) => ({
  file,
  dashboard: JSON.parse(readFileSync(join(FILES, 'dashboards', file), 'utf8')) as Dashboard,
}));

const queries: [name: string, expr: string][] = [
  ...alerts.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...dashboards.flatMap(({ file, dashboard }) =>
    dashboard.panels.flatMap(({ title, targets }) =>
      // Grafana puts in the data source's interval.
      targets.map(({ expr }): [string, string] => [`${file}: ${title}`, expr.replaceAll('$__rate_interval', '5m')]),
    ),
  ),
];

/** Labels by metric, as docs/operate/monitor.md lists them. */
const documented = new Map(
  [...readFileSync(join(ROOT, 'docs/operate/monitor.md'), 'utf8').matchAll(/^\| `([a-z][a-z0-9_]+)(?:\{([\w,]*)\})?` \|/gm)].map(
    ([, name = '', labels = '']) => [name, labels.split(',').filter((label) => label !== '')],
  ),
);
/** The metrics that every Node.js program has. */
const OF_NODE = ['process_resident_memory_bytes', 'process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds'];
/** Put there by the scrape (namespace, pod, tenant of a server), by the program's registry, and by histograms. */
const OF_THE_SCRAPE = ['namespace', 'pod', 'tenant', 'program', 'le'];

/** Metrics of a query with the labels that it selects or groups by. Throws where it is no PromQL. */
function askedBy(expr: string): { metrics: string[]; labels: string[] } {
  const [metrics, labels]: [Set<string>, Set<string>] = [new Set(), new Set()];
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      const text = expr.slice(from, to);
      if (type.isError) throw new Error(`no PromQL at ${from}: ${expr}`);
      if (type.name === 'Identifier') metrics.add(text);
      if (type.name === 'LabelName') labels.add(text);
    },
  });
  return { metrics: [...metrics], labels: [...labels] };
}

const metricOf = (series: string): string => (documented.has(series) ? series : series.replace(/_(bucket|count|sum)$/, ''));

test.each(queries)('%s asks for metrics and labels that the programs have', (_, expr) => {
  const { metrics, labels } = askedBy(expr);
  const known = metrics.flatMap((series) => documented.get(metricOf(series)) ?? []);

  expect(metrics.length).toBeGreaterThan(0);
  expect(metrics.filter((series) => !documented.has(metricOf(series)) && !OF_NODE.includes(series))).toEqual([]);
  expect(labels.filter((label) => !known.includes(label) && !OF_THE_SCRAPE.includes(label))).toEqual([]);
});

test('a value that a query compares a label with is one that the programs write', () => {
  const code = sources()
    .filter(({ file }) => /^(pkg|cmd)\//.test(file) && !file.endsWith('.test.ts'))
    .map(({ text }) => text)
    .join('\n');
  const values = new Set(queries.flatMap(([, expr]) => [...expr.matchAll(/\w="([^"]+)"/g)].map(([, value = '']) => value)));

  expect(values.size).toBeGreaterThan(5);
  expect([...values].filter((value) => !code.includes(`'${value}'`))).toEqual([]);
});

test('a query that is no PromQL, or asks for what no program has, is noticed', () => {
  expect(() => askedBy('sum by (rate(x[5m])')).toThrow('no PromQL');
  expect(askedBy('rate(unknown_total{shard="a"}[5m])')).toEqual({ metrics: ['unknown_total'], labels: ['shard'] });
});

test('each alert has a page that says what it means, what to look at and what to do, and each page an alert', () => {
  const pages = readdirSync(join(ROOT, 'docs/runbooks'));

  expect(pages.toSorted()).toEqual(alerts.map(({ alert }) => `${alert}.md`).toSorted());
  for (const { alert } of alerts) {
    const text = readFileSync(join(ROOT, 'docs/runbooks', `${alert}.md`), 'utf8');
    expect(wordsOf(text, /^#+ (.*)$/gm)).toEqual(['What it means', 'What to look at', 'What to do', alert].toSorted());
  }
});

test('an alert has a severity, a summary and a time for which it must hold', () => {
  for (const { severity, summary, for: duration } of alerts) {
    expect(['page', 'ticket']).toContain(severity);
    expect(summary).toMatch(/\.$/);
    expect(duration).toMatch(/^\d+m$/);
  }
});

test('dashboards have addresses of their own', () => {
  const uids = dashboards.map(({ dashboard }) => dashboard.uid);

  expect(new Set(uids).size).toBe(uids.length);
  expect(uids.toSorted()).toEqual(['carrel-jobs', 'carrel-operator', 'carrel-servers', 'carrel-worker']);
});
