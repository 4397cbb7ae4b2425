import { hostname } from 'node:os';
import { KubeConfig } from '@kubernetes/client-node';
import { LeaderElector } from '../../pkg/kube/leader.ts';
import { KubeClient } from '../../pkg/kube/transport.ts';
import { Operator } from '../../pkg/operator/operator.ts';
import { readShards, Shards } from '../../pkg/operator/shards.ts';
import { startSuspendedServer, type SuspendedServer } from '../../pkg/operator/suspended-server.ts';
import { TenantRedis } from '../../pkg/operator/tenant/redis-users.ts';
import { systemClock as clock } from '../../pkg/runtime/clock.ts';
import { ConfigError, readConfig } from '../../pkg/runtime/config.ts';
import { createLogger, type Logger } from '../../pkg/runtime/log.ts';
import { createMetrics } from '../../pkg/runtime/metrics.ts';
import { startOpsServer } from '../../pkg/runtime/ops-server.ts';
import { runProgram } from '../../pkg/runtime/program.ts';
import { systemRandom as random } from '../../pkg/runtime/random.ts';
import { Sealer } from '../../pkg/runtime/sealing.ts';
import { StorageAdmin } from '../../pkg/store/s3/admin.ts';
import { type OperatorConfig, operatorConfigSchema, settingsOf, storageAdminOf } from './config.ts';

const LEASE = 'carrel-operator';
let log: Logger = createLogger({ program: 'operator' });

await runProgram(
  () => log,
  async (program) => {
    const config = readConfig('operator', operatorConfigSchema, process.env);
    log = createLogger({ program: 'operator', level: config.CARREL_LOG_LEVEL });
    const metrics = createMetrics('operator');
    const instance = `${hostname()}_${random.hex(4)}`;
    const client = new KubeClient({ kubeConfig: kubeConfig(), metrics, clock, userAgent: 'carrel-operator' });
    const platformKeys = config.CARREL_PLATFORM_KEYS;
    const sealer = new Sealer(platformKeys, random);
    const shards = new Shards({ shards: readShards(config.CARREL_SHARDS_DIR), sealer, clock, random, log });
    const redis = new TenantRedis({ url: config.CARREL_REDIS_ADMIN_URL, log });
    const access = storageAdminOf(config);
    const storage = access && new StorageAdmin(access);
    const shared = { client, clock, random, log, metrics };
    const suspended = await suspendedServer(config);
    if (suspended) program.onStop('answer for suspended tenants', () => suspended.close());
    const settings = settingsOf(config, suspended && { address: config.CARREL_POD_IP ?? '', port: suspended.port });
    const lease = { namespace: config.CARREL_LEADER_ELECTION_NAMESPACE, name: LEASE };
    const operator = new Operator({ ...shared, settings, shards, redis, storage, platformKeys, lease, instance });
    const elector = new LeaderElector({ ...shared, ...lease, identity: instance });
    const ops = await startOpsServer({
      host: config.CARREL_LISTEN_HOST,
      port: config.CARREL_OPS_PORT,
      metrics,
      ready: () => operator.notReady(),
    });
    program.onStop('ops server', () => ops.close());
    program.onStop('API server connection', () => client.close());
    program.onStop('stores', async () => void (await Promise.all([shards.close(), redis.close()])));

    // Newest first: the controllers end and the lease is given back, then the copies stop, and the last Events are sent.
    const watching = new AbortController();
    const watch = operator.watch(watching.signal);
    program.onStop('watches', async () => {
      watching.abort(program.stopping.reason);
      await watch;
    });
    const election = elector.run((signal) => operator.lead(signal), program.stopping);
    program.onStop('leadership', () => election);
    log.info({ shards: shards.names, opsPort: ops.port, instance }, 'started');
  },
);

/** Where it is known under which address it can be reached. */
async function suspendedServer(config: OperatorConfig): Promise<SuspendedServer | undefined> {
  if (config.CARREL_POD_IP === undefined) return undefined;
  return startSuspendedServer({ host: config.CARREL_LISTEN_HOST, port: config.CARREL_SUSPENDED_PORT, random });
}

/** KUBECONFIG, else the Pod's service account, else ~/.kube/config. */
function kubeConfig(): KubeConfig {
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
    if (!config.getCurrentCluster()) throw new Error('it has no current cluster');
    return config;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`operator: KUBECONFIG is not valid: ${why}. Set it to the path of a kubeconfig (docs/operate.md).`);
  }
}
