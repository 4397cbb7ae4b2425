import { Counter, Gauge, Histogram } from 'prom-client';
import type { Metrics } from '../runtime/metrics.ts';
import type { KindStatistics, Ledger } from './ledger.ts';

export type Result = 'done' | 'retried' | 'dead' | 'lost_lease';

/** What the worker tells Prometheus. Depth, age and dead letters come from Postgres at each scrape. */
export interface JobMetrics {
  result(kind: string, result: Result, seconds: number): void;
}

export function jobMetrics(metrics: Metrics, ledgers: ReadonlyMap<string, Ledger>): JobMetrics {
  const results = new Counter({
    name: 'carrel_work_results_total',
    help: 'Work ended, by kind and result',
    labelNames: ['kind', 'result'],
    registers: [metrics],
  });
  const duration = new Histogram({
    name: 'carrel_work_duration_seconds',
    help: 'How long one attempt took',
    labelNames: ['kind'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [metrics],
  });
  const gauges: [name: string, help: string, value: (row: KindStatistics) => number][] = [
    ['carrel_work_due', 'Items that are due', ({ due }) => due],
    ['carrel_work_oldest_seconds', 'For how long the oldest due item has been due', ({ oldestSeconds }) => oldestSeconds],
    ['carrel_work_waiting_seconds', 'How long ago the oldest item that is not done was asked for', ({ waitingSeconds }) => waitingSeconds],
    ['carrel_work_dead', 'Dead letters', ({ dead }) => dead],
  ];
  const statistics = oncePerScrape(ledgers);
  for (const [name, help, value] of gauges) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: ['shard', 'kind'],
      registers: [metrics],
      collect: async () => {
        gauge.reset();
        for (const [shard, rows] of await statistics()) for (const row of rows) gauge.set({ shard, kind: row.kind }, value(row));
      },
    });
  }
  return {
    result: (kind, result, seconds) => {
      results.inc({ kind, result });
      duration.observe({ kind }, seconds);
    },
  };
}

/** One query a shard serves all gauges of a scrape; a shard that is away is left out. */
export function oncePerScrape<T>(ledgers: ReadonlyMap<string, { statistics(): Promise<T[]> }>): () => Promise<[string, T[]][]> {
  let running: Promise<[string, T[]][]> | undefined;
  return () => {
    running ??= Promise.all(
      [...ledgers].map(async ([shard, ledger]): Promise<[string, T[]]> => [shard, await ledger.statistics().catch(() => [])]),
    ).finally(() => (running = undefined));
    return running;
  };
}
