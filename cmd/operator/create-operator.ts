import { hostname } from 'node:os';
import type { KubeAccess } from '../../pkg/kube/credentials.ts';
import { LeaderElector } from '../../pkg/kube/leader.ts';
import { KubeClient } from '../../pkg/kube/transport.ts';
import type { OperatorDeps } from '../../pkg/operator/deps.ts';
import { Operator } from '../../pkg/operator/operator.ts';
import { readShards, Shards } from '../../pkg/operator/shards.ts';
import type { SuspendedServer } from '../../pkg/operator/suspended-server.ts';
import { TenantRedis } from '../../pkg/operator/tenant/redis/redis-users.ts';
import { systemClock as clock } from '../../pkg/runtime/clock.ts';
import type { Logger } from '../../pkg/runtime/log.ts';
import type { Metrics } from '../../pkg/runtime/metrics.ts';
import { systemRandom as random } from '../../pkg/runtime/random.ts';
import { Sealer } from '../../pkg/runtime/sealing.ts';
import type { ObserveStatement } from '../../pkg/store/postgres/client.ts';
import { StorageAdmin } from '../../pkg/store/s3/admin.ts';
import { type OperatorConfig, settingsOf, storageAdminOf } from './config.ts';

const LEASE = 'carrel-operator';

interface Options extends Pick<OperatorDeps, 'shardPollMs' | 'firstResealWaitMs' | 'usageIntervals'> {
  readonly kubeConfig: KubeAccess;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Answers for suspended tenants; default: nobody does. */
  readonly suspended?: SuspendedServer | undefined;
  /** Observes each statement of the shards. */
  readonly observe?: ObserveStatement;
}

/** The operator with its connections, not yet running. */
interface OperatorParts {
  readonly operator: Operator;
  readonly elector: LeaderElector;
  /** The names of the Postgres shards. */
  readonly shardNames: readonly string[];
  /** Identifies this process among several operators. */
  readonly instance: string;
  closeStores(): Promise<void>;
  closeClient(): Promise<void>;
}

/** Creates the operator from its settings. */
export function createOperator(config: OperatorConfig, options: Options): OperatorParts {
  const { kubeConfig, metrics, log, suspended, observe, ...intervals } = options;
  const instance = `${hostname()}_${random.hex(4)}`;
  const client = new KubeClient({ kubeConfig, metrics, clock, userAgent: 'carrel-operator' });
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
  const access = storageAdminOf(config);
  const storage = access && new StorageAdmin(access);
  const settings = settingsOf(config, suspended && { address: config.CARREL_POD_IP ?? '', port: suspended.port });
  const lease = { namespace: config.CARREL_LEADER_ELECTION_NAMESPACE, name: LEASE };
  const shared = { client, clock, random, log, metrics };
  return {
    operator: new Operator({ ...intervals, ...shared, settings, shards, redis, storage, platformKeys, lease, instance }),
    elector: new LeaderElector({ ...shared, ...lease, identity: instance }),
    shardNames: shards.names,
    instance,
    closeStores: async () => {
      storage?.close();
      await Promise.all([shards.close(), redis.close()]);
    },
    closeClient: () => client.close(),
  };
}
