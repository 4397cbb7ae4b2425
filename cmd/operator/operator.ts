import type { KubeAccess } from '../../pkg/kube/credentials.ts';
import { inClusterAccess } from '../../pkg/kube/in-cluster.ts';
import { startSuspendedServer, type SuspendedServer } from '../../pkg/operator/suspended-server.ts';
import { ConfigError, readConfig } from '../../pkg/runtime/config.ts';
import { createLogger, type Logger } from '../../pkg/runtime/log.ts';
import { createMetrics } from '../../pkg/runtime/metrics.ts';
import { startOpsServer } from '../../pkg/runtime/ops-server.ts';
import { runProgram } from '../../pkg/runtime/program.ts';
import { systemRandom as random } from '../../pkg/runtime/random.ts';
import { trustCertificates } from '../../pkg/runtime/trusted-certificates.ts';
import { type OperatorConfig, operatorConfigSchema } from './config.ts';
import { createOperator } from './create-operator.ts';

let log: Logger = createLogger({ program: 'operator' });

await runProgram(
  () => log,
  async (program) => {
    const config = readConfig('operator', operatorConfigSchema, process.env);
    log = createLogger({ program: 'operator', level: config.CARREL_LOG_LEVEL });
    trustCertificates(config.CARREL_TRUSTED_CERTIFICATES_FILE);
    const metrics = createMetrics('operator');
    const suspended = await suspendedServer(config);
    if (suspended) program.onStop('answer for suspended tenants', () => suspended.close());
    const parts = createOperator(config, { kubeConfig: await kubeAccess(config), metrics, log, suspended });
    const { operator, elector, shardNames, instance } = parts;
    const ops = await startOpsServer({
      host: config.CARREL_LISTEN_HOST,
      port: config.CARREL_OPS_PORT,
      metrics,
      ready: () => operator.notReady(),
    });
    program.onStop('ops server', () => ops.close());
    program.onStop('API server connection', () => parts.closeClient());
    program.onStop('stores', () => parts.closeStores());

    // Stops in reverse order: the controllers end and the lease is released, then the copies stop, and the last Events are sent.
    const watching = new AbortController();
    const watch = operator.watch(watching.signal);
    program.onStop('watches', async () => {
      watching.abort(program.stopping.reason);
      await watch;
    });
    const election = elector.run((signal) => operator.lead(signal), program.stopping);
    program.onStop('leadership', () => election);
    log.info({ shards: shardNames, opsPort: ops.port, instance }, 'started');
  },
);

/** Starts the server for suspended tenants if this pod's address is known. */
async function suspendedServer(config: OperatorConfig): Promise<SuspendedServer | undefined> {
  if (config.CARREL_POD_IP === undefined) return undefined;
  return startSuspendedServer({ host: config.CARREL_LISTEN_HOST, port: config.CARREL_SUSPENDED_PORT, random });
}

/** Reads KUBECONFIG, otherwise the Pod's service account, otherwise ~/.kube/config. */
async function kubeAccess({ CARREL_SERVICE_ACCOUNT_DIR }: OperatorConfig): Promise<KubeAccess> {
  const inCluster = process.env['KUBECONFIG'] ? undefined : inClusterAccess(process.env, CARREL_SERVICE_ACCOUNT_DIR);
  if (inCluster) return inCluster;
  const { KubeConfig } = await import('@kubernetes/client-node'); // 30 MB that a pod does not need.
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
    if (!config.getCurrentCluster()) throw new Error('it has no current cluster');
    return config;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `operator: KUBECONFIG is not valid: ${why}. Set it to the path of a kubeconfig (docs/operate/settings.md).`,
    );
  }
}
