import { operatorConfigSchema, settingsOf, storageAdminOf } from '../../cmd/operator/config.ts';
import { LeaderElector } from '../../pkg/kube/leader.ts';
import { KubeClient } from '../../pkg/kube/transport.ts';
import { Operator, type OperatorDeps } from '../../pkg/operator/operator.ts';
import { readShards, Shards } from '../../pkg/operator/shards.ts';
import { TenantRedis } from '../../pkg/operator/tenant/redis-users.ts';
import { systemClock as clock } from '../../pkg/runtime/clock.ts';
import { readConfig } from '../../pkg/runtime/config.ts';
import { type Logger, silentLogger } from '../../pkg/runtime/log.ts';
import { createMetrics, type Metrics } from '../../pkg/runtime/metrics.ts';
import { systemRandom as random } from '../../pkg/runtime/random.ts';
import { Sealer, type SealingKey } from '../../pkg/runtime/sealing.ts';
import type { ObserveStatement } from '../../pkg/store/postgres/client.ts';
import { StorageAdmin } from '../../pkg/store/s3/admin.ts';
import { operatorEnvironment, type Cluster, type Stores } from './operator.ts';

interface Options extends Pick<OperatorDeps, 'shardPollMs' | 'firstResealWaitMs'> {
  readonly stores: Stores;
  readonly metrics?: Metrics;
  readonly log?: Logger;
  readonly observe?: ObserveStatement;
  /** In place of those of the stores. */
  readonly platformKeys?: readonly SealingKey[];
}

/** The operator with the settings of `startOperator`, but in this process, for what only its constructor takes. Ends with the cluster, or by `end`. */
export function runOperator(cluster: Cluster, options: Options): { end(): Promise<void> } {
  const { stores, metrics = createMetrics('operator'), log = silentLogger, observe, ...intervals } = options;
  const config = readConfig('operator', operatorConfigSchema, operatorEnvironment(stores));
  const platformKeys = options.platformKeys ?? config.CARREL_PLATFORM_KEYS;
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
  const lease = { namespace: config.CARREL_LEADER_ELECTION_NAMESPACE, name: 'carrel-operator' };
  const instance = `test_${random.hex(4)}`;
  const shared = { client, clock, random, log, metrics };
  const operator = new Operator({
    ...intervals,
    ...shared,
    settings: settingsOf(config),
    shards,
    redis,
    storage,
    platformKeys,
    lease,
    instance,
  });
  const elector = new LeaderElector({ ...shared, ...lease, identity: instance });

  const [stopping, watching] = [new AbortController(), new AbortController()];
  const watch = operator.watch(watching.signal);
  const election = elector.run((signal) => operator.lead(signal), stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort(new Error('the test is over'));
    await election;
    watching.abort(new Error('the test is over'));
    await watch;
    storage.close();
    await Promise.all([shards.close(), redis.close(), client.close()]);
  };
  let stopped: Promise<void> | undefined;
  const end = (): Promise<void> => (stopped ??= stop());
  cluster.onClose(end);
  return { end };
}
