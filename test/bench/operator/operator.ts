import { execFileSync } from 'node:child_process';
import { MAX_TENANTS_PER_SHARD } from '../../../pkg/store/postgres/registry.ts';
import { startTestBackends } from '../../support/backends/start-backends.ts';
import { ROOT, testBackends } from '../../support/backends/backends.ts';
import { newNamespace, type OperatorProcess, playPods, startCluster, startOperator } from '../../support/cluster/operator.ts';
import { range } from '../../support/wait.ts';
import { type Line, progress } from '../measure.ts';
import { atRest } from './at-rest.ts';
import { bareClient } from './bare-client.ts';
import { repairs } from './drift.ts';
import { restart, type RestartTime, takeover, WHILE_STOPPED } from './leaders.ts';
import { costs, type Memory, type Onboarded, onboarding, shape } from './onboarding.ts';
import { rollout } from './rollout.ts';
import { memoryOf, type Run } from './run.ts';
import { type BenchShards, benchShards } from './shards.ts';

/** `make bench LINES=operator TENANTS=5000 REST_MS=600000`; with FIRST=50 TENANTS=200 a quick look at all of it. */
const TENANTS = Number(process.env['TENANTS'] ?? 1_000);
const REST_MS = Number(process.env['REST_MS'] ?? 600_000);
/**
 * The rows are those of so many, on one shard; more of them come later, on a shard for each so many, and are compared with these.
 */
const FIRST = Math.min(TENANTS, Number(process.env['FIRST'] ?? MAX_TENANTS_PER_SHARD));
const ROUNDS = 4;
/** Beside its tenants a shard has had the model of the control, and those that came while a leader stopped. */
const PLACES = FIRST + WHILE_STOPPED + 10;

/** Measures the cost of the operator with many tenants, whose pods are simulated. */
export async function operator(): Promise<Line[]> {
  const stopTestBackends = await startTestBackends();
  const cluster = await startCluster();
  const shards = await benchShards();
  try {
    playPods(cluster);
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
    const run = {
      cluster,
      namespace: await newNamespace(cluster),
      start: (env?: NodeJS.ProcessEnv) =>
        startOperator(cluster, {
          env: { CARREL_MAX_TENANTS_PER_SHARD: String(PLACES), ...env },
          stores: { ...testBackends().stores, shardsDir: shards.directory },
          asInImage: true,
        }),
    };
    const began = await run.start();
    const control = await bareClient(run, shards.url());
    const none = memoryOf(began.pid);
    const onboarded = await onboarding(run, began, control, { tenants: FIRST, rounds: ROUNDS });
    const memory = { none, first: memoryOf(began.pid) };
    const lines = said([...costs(onboarded), ...(await atRest(run, began, REST_MS)), await repairs(run)]);
    const restarted = await restart(run, began);
    const takenOver = await takeover(run, restarted.operator);
    const rolledOut = await rollout(run, takenOver.operator, control);
    await control.close();
    lines.push(...said([...restarted.lines, ...takenOver.lines, rolledOut.line]));
    if (TENANTS > FIRST)
      lines.push(...said(await more(rolledOut.run, rolledOut.operator, shards, { onboarded, memory, restart: restarted.time })));
    return lines;
  } finally {
    await cluster.close();
    await shards.close();
    await stopTestBackends();
  }
}

/**
 * The rest of TENANTS, FIRST at a time, each time with another shard, which an operator finds when it starts. The last of them
 * beside the first, and a restart with all. Those between have no control: they are there to be many.
 */
async function more(
  run: Run,
  running: OperatorProcess,
  shards: BenchShards,
  first: { readonly onboarded: Onboarded; readonly memory: Omit<Memory, 'all'>; readonly restart: RestartTime },
): Promise<Line[]> {
  const rounds = Math.ceil((TENANTS - FIRST) / FIRST);
  let leader = running;
  const addShard = async (): Promise<void> => {
    await leader.end('SIGTERM');
    await shards.add();
    leader = await run.start();
  };
  for (const _round of range(rounds - 1)) {
    await addShard();
    await onboarding(run, leader, undefined, { tenants: FIRST, rounds: 1 });
  }
  await addShard();
  const control = await bareClient(run, shards.url());
  const last = await onboarding(run, leader, control, { tenants: FIRST, rounds: ROUNDS });
  const all = memoryOf(leader.pid);
  await control.close();
  return [
    ...shape(first.onboarded, last, FIRST * (rounds + 1), { ...first.memory, all }),
    ...(await restart(run, leader, first.restart)).lines,
  ];
}

/** The bench takes long: what is known is said at once. */
function said(lines: Line[]): Line[] {
  for (const { what, ours, control } of lines) progress(`operator: ${what}: ${[ours, control].filter(Boolean).join('; ')}`);
  return lines;
}
