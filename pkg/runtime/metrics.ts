import { collectDefaultMetrics, Registry } from 'prom-client';

/** A program's only registry; packages register their metrics on it when they are constructed. */
export type Metrics = Registry;

export function createMetrics(program: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ program });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/**
 * Reads the statistics of all shards for the gauges of one scrape: one query per shard, however many gauges. It leaves out a
 * shard that is unavailable.
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

/** The number of tenants with a label of their own. It bounds the number of series, each of which stays forever. */
const TENANTS_MAX = 200;
const OTHER_TENANTS = 'other';

/** Returns a function that labels the first `max` tenants by name and all others with one shared label. */
export function tenantLabels(max = TENANTS_MAX): (tenant: string) => string {
  const known = new Set<string>();
  return (tenant) => {
    if (known.size < max) known.add(tenant);
    return known.has(tenant) ? tenant : OTHER_TENANTS;
  };
}
