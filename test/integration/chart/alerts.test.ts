import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { resolveBinary, thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { ALERT_CASES, type AlertCase } from '../../support/data/alert-cases.ts';
import { ROOT } from '../../support/backends/backends.ts';
import { type ChartObject, LEAST, render } from '../../support/cluster/chart.ts';

/*
 * Each alert of the chart, evaluated by Prometheus' own engine (hack/binaries/promrules) over the series of its cases
 * (test/support/data/alert-cases.ts). The names of metrics and labels are compared with the programs elsewhere
 * (hack/docs/monitoring.test.ts).
 */
interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly summary: string;
}
const file = parse(readFileSync(join(ROOT, 'charts/carrel/files/alerts.yaml'), 'utf8')) as { groups: { rules: Alert[] }[] };
const alerts = new Map(file.groups.flatMap(({ rules }) => rules).map((rule) => [rule.alert, rule]));

/** The length of the series. */
const MINUTES = 120;

interface Result {
  readonly labels: Record<string, string>;
  readonly minutes: readonly number[];
}
const results = new Map<AlertCase, readonly Result[]>();

/** The series of each expression. */
async function evaluate(asked: readonly { expr: string; series: readonly string[]; minutes: number }[]): Promise<Result[][]> {
  const program = await resolveBinary('promrules', thisMachine(ROOT));
  return JSON.parse(execFileSync(program, { input: JSON.stringify(asked), encoding: 'utf8', timeout: 60_000 })) as Result[][];
}

beforeAll(async () => {
  const answers = await evaluate(
    ALERT_CASES.map(({ alert, series }) => ({ expr: alerts.get(alert)?.expr ?? '', series, minutes: MINUTES })),
  );
  for (const [at, answer] of answers.entries()) results.set(ALERT_CASES[at]!, answer);
});

/** Returns true when a series exists at each minute of some stretch of `minutes`, including its first and last one. */
const holdsFor = (minutes: number, at: readonly number[]): boolean =>
  at.some((minute) => Array.from({ length: minutes + 1 }, (_, i) => minute + i).every((each) => at.includes(each)));

test.each(ALERT_CASES.map((each): [string, string, AlertCase] => [each.alert, each.when, each]))(
  '%s, when %s',
  (_alert, _when, each) => {
    const minutes = Number.parseInt(alerts.get(each.alert)?.for ?? '', 10);
    const firing = (results.get(each) ?? []).filter((result) => holdsFor(minutes, result.minutes)).map(({ labels }) => labels);

    expect(firing).toEqual(each.fires ? [each.fires] : []);
  },
);

test('each alert fires in one case and does not in another, and its summary names no label that it does not have', () => {
  const withCases = (fires: boolean): string[] => [
    ...new Set(ALERT_CASES.filter((each) => (each.fires !== undefined) === fires).map(({ alert }) => alert)),
  ];
  const named = ALERT_CASES.flatMap(({ alert, fires }) =>
    fires
      ? [...(alerts.get(alert)?.summary ?? '').matchAll(/\$labels\.(\w+)/g)].filter(([, label = '']) => !(label in fires))
      : [],
  );

  expect(withCases(true)).toEqual([...alerts.keys()]);
  expect(withCases(false)).toEqual([...alerts.keys()]);
  expect(named).toEqual([]);
});

test('the worker’s autoscaler gets one value: the age of the oldest due work of all shards, or 0', async () => {
  interface Rule extends ChartObject {
    readonly spec: { groups: { rules: { record?: string; expr: string }[] }[] };
  }
  const rendered = await render({ ...LEAST, monitoring: { prometheusRule: { enabled: true } } });
  const rules = rendered.all<Rule>('PrometheusRule').flatMap(({ spec }) => spec.groups.flatMap(({ rules: each }) => each));
  const { expr = '' } = rules.find(({ record }) => record === 'carrel_queue_oldest_seconds') ?? {};
  const series = [
    'carrel_work_oldest_seconds{shard="one",kind="objects.purge",pod="w-1"} 40x10',
    'carrel_work_oldest_seconds{shard="one",kind="objects.purge",pod="w-2"} 39x10',
    'carrel_webhook_oldest_seconds{shard="two",pod="w-1"} 70x10',
  ];
  const always = { labels: {}, minutes: Array.from({ length: 11 }, (_, minute) => minute) };

  const [busy, idle] = await evaluate([
    { expr: `(${expr}) == 70`, series, minutes: 10 },
    { expr: `(${expr}) == 0`, series: [], minutes: 10 },
  ]);

  expect([busy, idle]).toEqual([[always], [always]]);
});
