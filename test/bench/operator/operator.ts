import { execFileSync } from 'node:child_process';
import { startTestBackends } from '../../support/start-backends.ts';
import { ROOT } from '../../support/backends.ts';
import { newNamespace, playPods, startCluster, startOperator } from '../../support/operator.ts';
import type { Line } from '../measure.ts';
import { atRest } from './at-rest.ts';
import { bareClient } from './bare-client.ts';
import { repairs } from './drift.ts';
import { restart, takeover } from './leaders.ts';
import { onboarding } from './onboarding.ts';
import { rollout } from './rollout.ts';

/** `make bench LINES=operator TENANTS=5000 REST_MS=600000`. */
const TENANTS = Number(process.env['TENANTS'] ?? 1_000);
const REST_MS = Number(process.env['REST_MS'] ?? 600_000);

/** What the operator costs with many tenants; their pods are played. */
export async function operator(): Promise<Line[]> {
  const stopTestBackends = await startTestBackends();
  const cluster = await startCluster();
  try {
    playPods(cluster);
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
    const run = {
      cluster,
      namespace: await newNamespace(cluster),
      start: (env?: NodeJS.ProcessEnv) =>
        startOperator(cluster, { env: { CARREL_MAX_TENANTS_PER_SHARD: '1000000', ...env }, asInImage: true }),
    };
    const first = await run.start();
    const control = await bareClient(cluster, run.namespace);
    const lines = await onboarding(run, first, control, TENANTS);
    lines.push(...(await atRest(run, first, REST_MS)), await repairs(run));
    const second = await restart(run, first);
    const third = await takeover(run, second.operator);
    lines.push(...second.lines, ...third.lines, await rollout(run, third.operator, control));
    await control.close();
    return lines;
  } finally {
    await cluster.close();
    await stopTestBackends();
  }
}
