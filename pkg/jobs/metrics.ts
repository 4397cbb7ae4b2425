import { Counter, Gauge, Histogram } from 'prom-client';
import { type Metrics, oncePerScrape } from '../runtime/metrics.ts';
import type { KindStatistics, JobStore } from '../store/postgres/job-store.ts';

export type Result = 'done' | 'continued' | 'moved' | 'retried' | 'abandoned' | 'dead' | 'lost_lease';

/** The worker's metrics of jobs. Depth, age and dead letters are read from Postgres at each scrape. */
export interface JobMetrics {
  result(kind: string, result: Result, seconds: number): void;
}

/** The worker's metrics of its queues. */
export interface QueueMetrics {
  /** The watchdog began the queue anew. */
  restarted(queue: string): void;
}

export function queueMetrics(metrics: Metrics, queues: readonly string[]): QueueMetrics {
  const restarts = new Counter({
    name: 'carrel_queue_restarts_total',
    help: 'Restarts of a queue that took no job although some were due',
    labelNames: ['queue'],
    registers: [metrics],
  });
  for (const queue of queues) restarts.inc({ queue }, 0);
  return { restarted: (queue) => restarts.inc({ queue }) };
}

export function jobMetrics(metrics: Metrics, stores: ReadonlyMap<string, JobStore>): JobMetrics {
  const results = new Counter({
    name: 'carrel_work_results_total',
    help: 'Job attempts, by kind and result',
    labelNames: ['kind', 'result'],
    registers: [metrics],
  });
  const duration = new Histogram({
    name: 'carrel_work_duration_seconds',
    help: 'Duration of one job attempt',
    labelNames: ['kind'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [metrics],
  });
  const gauges: [name: string, help: string, value: (row: KindStatistics) => number][] = [
    ['carrel_work_due', 'Jobs that are due', ({ due }) => due],
    ['carrel_work_oldest_seconds', 'How long the oldest due job has been due', ({ oldestSeconds }) => oldestSeconds],
    ['carrel_work_waiting_seconds', 'Age of the oldest job that is not done', ({ waitingSeconds }) => waitingSeconds],
    ['carrel_work_dead', 'Dead letters', ({ dead }) => dead],
  ];
  const statistics = oncePerScrape(stores);
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
