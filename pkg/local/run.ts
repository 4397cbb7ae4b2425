import { systemClock } from '../runtime/clock.ts';
import { createLogger } from '../runtime/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { runProgram } from '../runtime/program.ts';
import { systemRandom } from '../runtime/random.ts';
import { clientOf } from './client.ts';
import { existingStateDirectory, type StateDirectory } from './state-directory.ts';
import { DEMO_HOSTS, HELPERS_HOST } from './programs/carrel.ts';
import type { Upstream } from './router/routes.ts';

const fixedRoutes = ({ settings: { address, ports } }: StateDirectory): ReadonlyMap<string, Upstream> =>
  new Map(
    [...DEMO_HOSTS.map((host) => [host, ports.demo] as const), [HELPERS_HOST, ports.helpers] as const].map(([host, port]) => [
      host,
      { host: address, port },
    ]),
  );

/** Programs of the platform that do not exist in a cluster. */
export type OwnProgram = 'node' | 'router' | 'demo';

/** Runs the process node, the router or the demo as a separate program, until SIGTERM or SIGINT. */
export async function runOwn(program: OwnProgram, options: { stateDirectory: string; root: string }): Promise<void> {
  const log = createLogger({ program });
  await runProgram(
    () => log,
    async ({ onStop }) => {
      const stateDirectory = existingStateDirectory(options.stateDirectory);
      const metrics = createMetrics(program);
      const client = clientOf(options.stateDirectory);
      onStop('client', () => client.close());
      const shared = { client, clock: systemClock, log, metrics };
      const start = {
        node: async () =>
          (await import('./node/node.ts')).startNode({ ...shared, stateDirectory, root: options.root, random: systemRandom }),
        router: async () =>
          (await import('./router/router.ts')).startRouter({
            ...shared,
            port: stateDirectory.settings.routerPort,
            fixed: fixedRoutes(stateDirectory),
          }),
        demo: async () => (await import('./demo/demo.ts')).startDemo({ client, stateDirectory, log }),
      };
      const running = await start[program]();
      onStop(program, () => running.stop());
    },
  );
}
