import { operatorConfigSchema } from '../../../cmd/operator/config.ts';
import { createOperator } from '../../../cmd/operator/create-operator.ts';
import type { OperatorDeps } from '../../../pkg/operator/deps.ts';
import { readConfig } from '../../../pkg/runtime/config.ts';
import { type Logger, silentLogger } from '../../../pkg/runtime/log.ts';
import { createMetrics, type Metrics } from '../../../pkg/runtime/metrics.ts';
import { formatSealingKeys, type SealingKey } from '../../../pkg/runtime/sealing.ts';
import type { ObserveStatement } from '../../../pkg/store/postgres/client.ts';
import { operatorEnvironment, type Cluster, type Stores } from './operator.ts';

interface Options extends Pick<OperatorDeps, 'shardPollMs' | 'firstResealWaitMs' | 'usageIntervals'> {
  readonly stores: Stores;
  readonly metrics?: Metrics;
  readonly log?: Logger;
  readonly observe?: ObserveStatement;
  /** In place of those of the stores. */
  readonly platformKeys?: readonly SealingKey[];
}

/**
 * The operator as the program puts it together, with the settings of `startOperator`, but in this process: for shorter intervals,
 * and to hear of each statement. Ends with the cluster, or by `end`.
 */
export function runOperator(cluster: Cluster, options: Options): { end(): Promise<void> } {
  const { stores, metrics = createMetrics('operator'), log = silentLogger, platformKeys, ...more } = options;
  const keys = platformKeys ? { CARREL_PLATFORM_KEYS: formatSealingKeys(platformKeys) } : {};
  const config = readConfig('operator', operatorConfigSchema, { ...operatorEnvironment(stores), ...keys });
  const parts = createOperator(config, { ...more, kubeConfig: cluster.operatorConfig, metrics, log });

  const [stopping, watching] = [new AbortController(), new AbortController()];
  const watch = parts.operator.watch(watching.signal);
  const election = parts.elector.run((signal) => parts.operator.lead(signal), stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort(new Error('the test is over'));
    await election;
    watching.abort(new Error('the test is over'));
    await watch;
    await Promise.all([parts.closeStores(), parts.closeClient()]);
  };
  let stopped: Promise<void> | undefined;
  const end = (): Promise<void> => (stopped ??= stop());
  cluster.onClose(end);
  return { end };
}
