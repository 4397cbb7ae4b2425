import { execFileSync } from 'node:child_process';
import { startTestBackends } from '../../support/start-backends.ts';
import { ROOT } from '../../support/backends.ts';
import { newNamespace, type OperatorProcess, playPods, startCluster, startOperator } from '../../support/operator.ts';
import { range } from '../../support/wait.ts';
import { type Line, progress } from '../measure.ts';
import { atRest } from './at-rest.ts';
import { type BareClient, bareClient } from './bare-client.ts';
import { repairs } from './drift.ts';
import { restart, takeover } from './leaders.ts';
import { costs, type Onboarded, onboarding, shape } from './onboarding.ts';
import { rollout } from './rollout.ts';
import type { Run } from './run.ts';

/** `make bench LINES=operator TENANTS=5000 REST_MS=600000`. */
const TENANTS = Number(process.env['TENANTS'] ?? 1_000);
const REST_MS = Number(process.env['REST_MS'] ?? 600_000);
/** The rows are those of so many; more of them come later, and are compared with these. */
const FIRST = Math.min(TENANTS, 1_000);
const ROUNDS = 4;

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
    const began = await run.start();
    const control = await bareClient(cluster, run.namespace);
    const first = await onboarding(run, began, control, { tenants: FIRST, rounds: ROUNDS });
    const lines = said([...costs(first), ...(await atRest(run, began, REST_MS)), await repairs(run)]);
    const restarted = await restart(run, began);
    const takenOver = await takeover(run, restarted.operator);
    const rolledOut = await rollout(run, takenOver.operator, control);
    lines.push(...said([...restarted.lines, ...takenOver.lines, rolledOut.line]));
    if (TENANTS > FIRST) lines.push(...said(await more(run, rolledOut.operator, control, first)));
    await control.close();
    return lines;
  } finally {
    await cluster.close();
    await stopTestBackends();
  }
}

/** The rest of TENANTS, FIRST at a time: the last of them beside the first, and a restart with all. Those between have no control: they are there to be many. */
async function more(run: Run, running: OperatorProcess, control: BareClient, first: Onboarded): Promise<Line[]> {
  const rounds = Math.ceil((TENANTS - FIRST) / FIRST);
  for (const _round of range(rounds - 1)) await onboarding(run, running, undefined, { tenants: FIRST, rounds: 1 });
  const last = await onboarding(run, running, control, { tenants: FIRST, rounds: 1 });
  return [...shape(first, last, FIRST * (rounds + 1)), ...(await restart(run, running)).lines];
}

/** The bench takes long: what is known is said at once. */
function said(lines: Line[]): Line[] {
  for (const { what, ours, control } of lines) progress(`operator: ${what}: ${[ours, control].filter(Boolean).join('; ')}`);
  return lines;
}
