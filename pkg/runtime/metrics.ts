import { collectDefaultMetrics, Registry } from 'prom-client';

/** The one registry of a program; rooms register their metrics on it when they are constructed. */
export type Metrics = Registry;

export function createMetrics(program: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ program });
  collectDefaultMetrics({ register: registry });
  return registry;
}
