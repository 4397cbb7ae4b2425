import { collectDefaultMetrics, Registry } from 'prom-client';

/** The one registry of a program; packages register their metrics on it when they are constructed. */
export type Metrics = Registry;

export function createMetrics(program: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ program });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/**
 * Statistics of all shards for the gauges of one scrape: one query a shard, however many gauges. A shard that is unavailable is
 * left out.
 */
export function oncePerScrape<T>(stores: ReadonlyMap<string, { statistics(): Promise<T[]> }>): () => Promise<[string, T[]][]> {
  let running: Promise<[string, T[]][]> | undefined;
  return () => {
    running ??= Promise.all(
      [...stores].map(async ([shard, store]): Promise<[string, T[]]> => [shard, await store.statistics().catch(() => [])]),
    ).finally(() => (running = undefined));
    return running;
  };
}

/** Tenants with a label of their own; it bounds the number of series, each of which is there for ever. */
const TENANTS_MAX = 200;
const OTHER_TENANTS = 'other';

/** The first `max` tenants have labels of their own; all others share one. */
export function tenantLabels(max = TENANTS_MAX): (tenant: string) => string {
  const known = new Set<string>();
  return (tenant) => {
    if (known.size < max) known.add(tenant);
    return known.has(tenant) ? tenant : OTHER_TENANTS;
  };
}
