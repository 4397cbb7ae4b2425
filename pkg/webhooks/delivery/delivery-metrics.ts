import { Counter, Gauge, Histogram } from 'prom-client';
import { type Metrics, oncePerScrape, tenantLabels } from '../../runtime/metrics.ts';
import type { DeliveryStore, DeliveryStatistics } from './delivery-store.ts';

export type DeliveryResult = 'delivered' | 'retried' | 'failed' | 'canceled' | 'lost_lease';

/** The worker's metrics of deliveries. Each scrape reads from Postgres how many are due, and for how long. */
export interface DeliveryMetrics {
  result(tenant: string, result: DeliveryResult): void;
  /** From the event to the receiver's 2xx, in seconds. */
  latency(tenant: string, seconds: number): void;
}

export function deliveryMetrics(metrics: Metrics, stores: ReadonlyMap<string, DeliveryStore>): DeliveryMetrics {
  const results = new Counter({
    name: 'carrel_webhook_deliveries_total',
    help: 'Attempts to deliver a webhook, by result',
    labelNames: ['tenant', 'result'],
    registers: [metrics],
  });
  const latency = new Histogram({
    name: 'carrel_webhook_latency_seconds',
    help: 'Seconds from the event to its delivery',
    labelNames: ['tenant'],
    buckets: [0.02, 0.05, 0.1, 0.5, 2, 10, 60, 600, 3_600, 86_400],
    registers: [metrics],
  });
  const statistics = oncePerScrape(stores);
  const gauges: [name: string, help: string, value: (row: DeliveryStatistics) => number][] = [
    ['carrel_webhook_due', 'Deliveries that are due', ({ due }) => due],
    ['carrel_webhook_oldest_seconds', 'How long the oldest due delivery has been due', ({ oldestSeconds }) => oldestSeconds],
  ];
  for (const [name, help, value] of gauges) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: ['shard'],
      registers: [metrics],
      collect: async () => {
        gauge.reset();
        for (const [shard, rows] of await statistics()) for (const row of rows) gauge.set({ shard }, value(row));
      },
    });
  }
  const labelOf = tenantLabels();
  return {
    result: (tenant, result) => results.inc({ tenant: labelOf(tenant), result }),
    latency: (tenant, seconds) => latency.observe({ tenant: labelOf(tenant) }, seconds),
  };
}
