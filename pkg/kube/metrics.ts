import { Counter, Gauge, Histogram } from 'prom-client';
import type { Metrics } from '../runtime/metrics.ts';

/**
 * Metrics that several instances share (queues, controllers, clients): the first instance registers them, the others get the same
 * ones.
 */
export function counter<L extends string>(metrics: Metrics, name: string, help: string, labelNames: L[]): Counter<L> {
  return (
    (metrics.getSingleMetric(name) as Counter<L> | undefined) ?? new Counter({ name, help, labelNames, registers: [metrics] })
  );
}

export function gauge<L extends string>(metrics: Metrics, name: string, help: string, labelNames: L[]): Gauge<L> {
  return (metrics.getSingleMetric(name) as Gauge<L> | undefined) ?? new Gauge({ name, help, labelNames, registers: [metrics] });
}

/** `buckets` in seconds. */
export function histogram<L extends string>(
  metrics: Metrics,
  name: string,
  help: string,
  labelNames: L[],
  buckets: number[],
): Histogram<L> {
  return (
    (metrics.getSingleMetric(name) as Histogram<L> | undefined) ??
    new Histogram({ name, help, labelNames, buckets, registers: [metrics] })
  );
}

export const SECONDS_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Registers a gauge whose values are read when it is scraped. It replaces a gauge of the same name. */
export function readGauge<L extends string>(
  metrics: Metrics,
  { name, help, labelNames }: { readonly name: string; readonly help: string; readonly labelNames: L[] },
  read: () => Iterable<readonly [labels: Record<L, string>, value: number]>,
): void {
  metrics.removeSingleMetric(name);
  const gauge = new Gauge<L>({
    name,
    help,
    labelNames,
    registers: [],
    collect() {
      this.reset();
      for (const [labels, value] of read()) this.set(labels as Partial<Record<L, string>>, value);
    },
  });
  metrics.registerMetric(gauge);
}
