import { Counter, Gauge, Histogram } from 'prom-client';
import { type Metrics, oncePerScrape, tenantLabels } from '../runtime/metrics.ts';
import type { KindStatistics, JobStore, TenantStatistics } from '../store/postgres/job-store.ts';
import { slugOf } from '../store/tenant-resources.ts';

export type Result = 'done' | 'continued' | 'moved' | 'retried' | 'abandoned' | 'put_back' | 'dead' | 'lost_lease';

/** The worker's metrics of jobs. Each scrape reads depth, age and dead letters from Postgres. */
export interface JobMetrics {
  result(of: { readonly kind: string; readonly tenant: string }, result: Result, seconds: number): void;
}

/** The worker's metrics of its queues. */
export interface QueueMetrics {
  /** The watchdog restarted the queue. */
  restarted(queue: string): void;
}

export function queueMetrics(metrics: Metrics, queues: readonly string[]): QueueMetrics {
  const restarts = new Counter({
    name: 'carrel_queue_restarts_total',
    help: 'Restarts of a queue that took no job although jobs were due',
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
  const tenantResults = new Counter({
    name: 'carrel_work_tenant_results_total',
    help: 'Job attempts, by tenant and result',
    labelNames: ['tenant', 'result'],
    registers: [metrics],
  });
  const tenantSeconds = new Counter({
    name: 'carrel_work_tenant_seconds_total',
    help: 'Total duration of job attempts, by tenant',
    labelNames: ['tenant'],
    registers: [metrics],
  });
  const gauges: [name: string, help: string, value: (row: KindStatistics) => number][] = [
    ['carrel_work_due', 'Jobs that are due', ({ due }) => due],
    ['carrel_work_oldest_seconds', 'How long the oldest due job has been due', ({ oldestSeconds }) => oldestSeconds],
    ['carrel_work_waiting_seconds', 'Age of the oldest job that is not done', ({ waitingSeconds }) => waitingSeconds],
    ['carrel_work_dead', 'Dead letters', ({ dead }) => dead],
  ];
  gaugesOf(metrics, stores, gauges, { label: 'kind', of: ({ kind }) => kind });
  const tenantGauges: [name: string, help: string, value: (row: TenantStatistics) => number][] = [
    ['carrel_work_tenant_due', 'Due jobs of the tenants that have the most', ({ due }) => due],
    [
      'carrel_work_tenant_oldest_seconds',
      'How long the oldest due job of the same tenants has been due',
      ({ oldestSeconds }) => oldestSeconds,
    ],
  ];
  const tenants = new Map([...stores].map(([shard, store]) => [shard, { statistics: () => store.tenantStatistics() }]));
  gaugesOf(metrics, tenants, tenantGauges, { label: 'tenant', of: ({ tenant }) => slugOf(tenant) });
  const labelOf = tenantLabels();
  return {
    result: ({ kind, tenant }, result, seconds) => {
      results.inc({ kind, result });
      duration.observe({ kind }, seconds);
      const labels = { tenant: labelOf(slugOf(tenant)) };
      tenantResults.inc({ ...labels, result });
      tenantSeconds.inc(labels, seconds);
    },
  };
}

/** Registers gauges of the shards' statistics. Each scrape reads them, with a series for each of their rows. */
function gaugesOf<Row>(
  metrics: Metrics,
  stores: ReadonlyMap<string, { statistics(): Promise<Row[]> }>,
  gauges: readonly (readonly [name: string, help: string, value: (row: Row) => number])[],
  { label, of }: { readonly label: string; readonly of: (row: Row) => string },
): void {
  const statistics = oncePerScrape(stores);
  for (const [name, help, value] of gauges) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: ['shard', label],
      registers: [metrics],
      collect: async () => {
        gauge.reset();
        for (const [shard, rows] of await statistics())
          for (const row of rows) gauge.set({ shard, [label]: of(row) }, value(row));
      },
    });
  }
}
