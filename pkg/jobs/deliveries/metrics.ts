import { Counter, Gauge, Histogram } from 'prom-client';
import type { Metrics } from '../../runtime/metrics.ts';
import { oncePerScrape } from '../metrics.ts';
import type { DeliveryLedger, DeliveryStatistics } from './ledger.ts';

export type DeliveryResult = 'delivered' | 'retried' | 'failed' | 'canceled' | 'lost_lease';

/** What the worker tells Prometheus of webhooks; how many are due and for how long comes from Postgres at each scrape. */
export interface DeliveryMetrics {
  result(result: DeliveryResult): void;
  /** From the event to the receiver's yes, in seconds. */
  latency(seconds: number): void;
}

export function deliveryMetrics(metrics: Metrics, ledgers: ReadonlyMap<string, DeliveryLedger>): DeliveryMetrics {
  const results = new Counter({
    name: 'carrel_webhook_deliveries_total',
    help: 'Attempts to deliver a webhook, by result',
    labelNames: ['result'],
    registers: [metrics],
  });
  const latency = new Histogram({
    name: 'carrel_webhook_latency_seconds',
    help: 'From the event to its delivery',
    buckets: [0.02, 0.05, 0.1, 0.5, 2, 10, 60, 600, 3_600, 86_400],
    registers: [metrics],
  });
  const statistics = oncePerScrape(ledgers);
  const gauges: [name: string, help: string, value: (row: DeliveryStatistics) => number][] = [
    ['carrel_webhook_due', 'Deliveries that are due', ({ due }) => due],
    ['carrel_webhook_oldest_seconds', 'For how long the oldest due delivery has been due', ({ oldestSeconds }) => oldestSeconds],
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
  return { result: (result) => results.inc({ result }), latency: (seconds) => latency.observe(seconds) };
}
