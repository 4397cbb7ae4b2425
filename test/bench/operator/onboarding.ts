import { TENANT } from '../../../pkg/operator/kinds.ts';
import { conditionOf, difference, follow, type OperatorProcess, tenantOf, unique, writes } from '../../support/operator.ts';
import { inParallel, range, waitFor } from '../../support/wait.ts';
import { type Line, progress } from '../measure.ts';
import { type BareClient, CONCURRENCY } from './bare-client.ts';
import { countOf, inSeconds, limitFor, memoryOf, MIB, type Run } from './run.ts';

/** Ours and the control by turns, so that both meet a catalog that grows. */
const LEAST_ROUNDS = 4;
const MOST_IN_A_ROUND = 1_000;
/** How much more a tenant may cost beside many others (design.md: 5,000 keep the shape of 1,000). */
const SHAPE = 1.3;

interface Round {
  readonly ms: Record<Who, number>;
  /** Of the operator, after the round. */
  readonly memory: number;
}
type Who = 'ours' | 'control';

/** Makes Tenants and waits until they are Ready, beside a client that writes the same. */
export async function onboarding(run: Run, { pid }: OperatorProcess, control: BareClient, tenants: number): Promise<Line[]> {
  const { cluster, namespace } = run;
  const { store, stop } = follow(cluster, TENANT, namespace);
  const readyOnes = (): number => store.list().filter((tenant) => conditionOf(tenant, 'Ready')?.status === 'True').length;
  const wrote = { ours: 0, control: 0 };
  const timed = async (who: Who, work: () => Promise<unknown>): Promise<number> => {
    const before = await writes(cluster);
    const started = performance.now();
    await work();
    const took = performance.now() - started;
    wrote[who] += countOf(difference(before, await writes(cluster)));
    return took;
  };
  const count = Math.max(LEAST_ROUNDS, Math.ceil(tenants / MOST_IN_A_ROUND));
  const each = Math.ceil(tenants / count);
  const empty = memoryOf(pid);
  const rounds: Round[] = [];
  for (const round of range(count)) {
    const names = range(each).map(() => unique('many'));
    const controlMs = await timed('control', () => inParallel(names, CONCURRENCY, (name) => control.make(`${name}-c`)));
    const already = readyOnes();
    const oursMs = await timed('ours', async () => {
      await inParallel(names, CONCURRENCY, (name) => cluster.tenants.create(tenantOf(namespace, name)));
      await waitFor('all to be Ready', () => readyOnes() >= already + each, limitFor(each));
    });
    const memory = memoryOf(pid);
    rounds.push({ ms: { ours: oursMs, control: controlMs }, memory });
    const times = `${(oursMs / each).toFixed(0)} ms each, control ${(controlMs / each).toFixed(0)}`;
    progress(`operator: ${(round + 1) * each} of ${each * count} tenants are Ready, ${times}; ${(memory / MIB).toFixed(0)} MiB`);
  }
  await stop();
  return [...totals(rounds, wrote, each), ...shape(rounds, empty, each)];
}

function totals(rounds: readonly Round[], wrote: Record<Who, number>, each: number): Line[] {
  const all = each * rounds.length;
  const took = { ours: 0, control: 0 };
  for (const { ms } of rounds) for (const who of ['ours', 'control'] as const) took[who] += ms[who];
  return [
    {
      what: `${all} Tenants to Ready`,
      ours: `${inSeconds(took.ours, 0)}, ${(took.ours / all).toFixed(0)} ms each`,
      control: `${inSeconds(took.control, 0)} for a bare client`,
      ratio: took.ours / took.control,
      target: '≤ 1.5 ×',
      met: took.ours <= 1.5 * took.control,
    },
    {
      what: 'writes to the API server for each of them',
      ours: (wrote.ours / all).toFixed(1),
      control: `${(wrote.control / all).toFixed(1)} for a bare client`,
      ratio: wrote.ours / wrote.control,
      target: '≤ 1.1 ×',
      met: wrote.ours <= 1.1 * wrote.control,
    },
  ];
}

/** The last beside the first: neither time nor memory of a tenant grows with how many there are. */
function shape(rounds: readonly Round[], empty: number, each: number): Line[] {
  const [first, last] = [rounds.at(0), rounds.at(-1)];
  if (!first || !last) return [];
  const ratioOf = (who: Who): number => last.ms[who] / first.ms[who];
  const ofFirst = (first.memory - empty) / each;
  const ofOthers = (last.memory - first.memory) / (each * (rounds.length - 1));
  const kib = (bytes: number): string => `${(bytes / 1_024).toFixed(0)} KiB`;
  return [
    {
      what: `time of the last ${each} of them`,
      ours: `${(last.ms.ours / each).toFixed(0)} ms each`,
      control: `${(first.ms.ours / each).toFixed(0)} ms of the first ${each} (the bare client: ${ratioOf('control').toFixed(2)} ×)`,
      ratio: ratioOf('ours'),
      target: `≤ ${SHAPE} ×`,
      met: ratioOf('ours') <= SHAPE,
    },
    {
      what: `memory of the operator for each Tenant after the first ${each}`,
      ours: kib(ofOthers),
      control: `${kib(ofFirst)} for the first`,
      ratio: ofOthers / ofFirst,
      target: `≤ ${SHAPE} ×`,
      met: ofOthers <= SHAPE * ofFirst,
    },
  ];
}
