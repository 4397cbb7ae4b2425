import { operatorConfigSchema, settingsOf, storageAdminOf } from '../../cmd/operator/config.ts';
import { KubeClient } from '../../pkg/kube/transport.ts';
import { Operator } from '../../pkg/operator/operator.ts';
import { readShards, Shards } from '../../pkg/operator/shards.ts';
import { TenantRedis } from '../../pkg/operator/tenant/redis-users.ts';
import { systemClock as clock } from '../../pkg/runtime/clock.ts';
import { readConfig } from '../../pkg/runtime/config.ts';
import { silentLogger as log } from '../../pkg/runtime/log.ts';
import { createMetrics, type Metrics } from '../../pkg/runtime/metrics.ts';
import { systemRandom as random } from '../../pkg/runtime/random.ts';
import { Sealer } from '../../pkg/runtime/sealing.ts';
import type { ObserveStatement } from '../../pkg/store/postgres/client.ts';
import { StorageAdmin } from '../../pkg/store/s3/admin.ts';
import { operatorEnvironment, type Cluster, type Stores } from './operator.ts';

interface Options {
  readonly stores: Stores;
  readonly metrics?: Metrics;
  readonly observe?: ObserveStatement;
  readonly shardPollMs?: number;
}

/** The operator with the settings of `startOperator`, in this process until the cluster is closed: for what only its constructor takes. It leads at once. */
export function runOperator(cluster: Cluster, { stores, metrics = createMetrics('operator'), observe, shardPollMs }: Options): void {
  const config = readConfig('operator', operatorConfigSchema, operatorEnvironment(stores));
  const platformKeys = config.CARREL_PLATFORM_KEYS;
  const sealer = new Sealer(platformKeys, random);
  const shards = new Shards({
    shards: readShards(config.CARREL_SHARDS_DIR),
    sealer,
    clock,
    random,
    log,
    ...(observe ? { observe } : {}),
  });
  const redis = new TenantRedis({ url: config.CARREL_REDIS_ADMIN_URL, log });
  const client = new KubeClient({ kubeConfig: cluster.operatorConfig, metrics });
  const storage = new StorageAdmin(storageAdminOf(config) ?? stores.s3);
  const operator = new Operator({
    settings: settingsOf(config),
    client,
    shards,
    redis,
    storage,
    platformKeys,
    instance: 'test',
    lease: { namespace: 'carrel-system', name: 'carrel-operator' },
    clock,
    random,
    log,
    metrics,
    ...(shardPollMs === undefined ? {} : { shardPollMs }),
  });
  const stopping = new AbortController();
  const works = Promise.all([operator.watch(stopping.signal), operator.lead(stopping.signal)]);
  cluster.onClose(async () => {
    stopping.abort(new Error('the test is over'));
    await works;
    storage.close();
    await Promise.all([shards.close(), redis.close(), client.close()]);
  });
}
