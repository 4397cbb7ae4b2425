import { readGauge } from '../kube/metrics.ts';
import { keyOf, type ObjectKey } from '../kube/object.ts';
import type { Store } from '../kube/store.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Tenant } from './kinds.ts';
import { slugOf } from './names.ts';
import type { Shards } from './shards.ts';

const METRIC = {
  name: 'carrel_shard_up',
  help: 'Whether a shard answered when the leading operator polled it last.',
  labelNames: ['shard' as const],
};

/** Only the operator that leads polls: a standby has no series. */
export const showShardStates = (metrics: Metrics, shards: Shards): void =>
  readGauge(metrics, METRIC, () => [...shards.polled].map(([shard, isUp]) => [{ shard }, Number(isUp)]));

interface Deps {
  readonly shards: Shards;
  readonly tenants: Store<Tenant>;
  readonly log: Logger;
  enqueue(key: ObjectKey): void;
}

/**
 * Reconciles the tenants of a shard that was lost or is back, so that their conditions say so. Reconciles all
 * tenants if the shard holds the registry, or if the registry does not answer.
 */
export const onShardTurn =
  ({ shards, tenants, log, enqueue }: Deps) =>
  async (shard: string, isUp: boolean): Promise<void> => {
    if (isUp) log.info({ shard }, 'a shard answers again');
    else log.warn({ shard }, 'a shard does not answer');
    const slugs = await slugsOn(shard, shards).catch(() => undefined);
    for (const tenant of tenants.list()) if (slugs?.has(slugOf(tenant)) ?? true) enqueue(keyOf(tenant));
  };

async function slugsOn(shard: string, shards: Shards): Promise<Set<string> | undefined> {
  if (shard === shards.names[0]) return undefined;
  const registered = await (await shards.registry()).list();
  return new Set(registered.filter((each) => each.shard === shard).map(({ slug }) => slug));
}
