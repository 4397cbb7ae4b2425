import { KubeConfig } from '@kubernetes/client-node';
import { KubeClient } from '../kube/transport.ts';
import { systemClock } from '../runtime/clock.ts';
import { createLogger } from '../runtime/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { runProgram } from '../runtime/program.ts';
import { systemRandom } from '../runtime/random.ts';
import { existingStateDirectory, paths, type StateDirectory } from './state-directory.ts';
import { startNode } from './node/node.ts';
import { DEMO_HOSTS } from './programs/own.ts';
import { startRouter } from './router/router.ts';
import type { Upstream } from './router/routes.ts';

/** A client of the platform's API server, as administrator. */
export function clientOf(stateDirectory: string): KubeClient {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(paths(stateDirectory).kubeconfig);
  return new KubeClient({ kubeConfig, metrics: createMetrics('carrel'), userAgent: 'carrel' });
}

const demoRoutes = ({ settings }: StateDirectory): ReadonlyMap<string, Upstream> =>
  new Map(DEMO_HOSTS.map((host) => [host, { host: settings.address, port: settings.ports.demo }]));

/** The process node or the router as a program of its own, until it is told to stop. */
export async function runOwn(program: 'node' | 'router', options: { stateDirectory: string; root: string }): Promise<void> {
  const log = createLogger({ program });
  await runProgram(
    () => log,
    async ({ onStop }) => {
      const stateDirectory = existingStateDirectory(options.stateDirectory);
      const metrics = createMetrics(program);
      const client = clientOf(options.stateDirectory);
      onStop('client', () => client.close());
      const shared = { client, clock: systemClock, log, metrics };
      const running =
        program === 'node'
          ? await startNode({ ...shared, stateDirectory, root: options.root, random: systemRandom })
          : await startRouter({ ...shared, port: stateDirectory.settings.routerPort, fixed: demoRoutes(stateDirectory) });
      onStop(program, () => running.stop());
    },
  );
}
