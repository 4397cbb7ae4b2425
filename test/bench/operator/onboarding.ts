import { TENANT } from '../../../pkg/operator/kinds.ts';
import { difference, storageSize, writes } from '../../support/cluster/apiserver-metrics.ts';
import { conditionOf, follow, type OperatorProcess, tenantOf, unique } from '../../support/cluster/operator.ts';
import { inParallel, range, waitFor } from '../../support/wait.ts';
import { type Line, progress } from '../measure.ts';
import { type BareClient, CONCURRENCY } from './bare-client.ts';
import { countOf, inSeconds, limitFor, memoryOf, MIB, type Run, SHAPE, SYNC_LIMIT_MS } from './run.ts';

type Who = 'ours' | 'control';

/** The cost of some Tenants. */
export interface Onboarded {
  readonly count: number;
  readonly ms: Readonly<Record<Who, number>>;
  readonly writes: Readonly<Record<Who, number>>;
}

/**
 * Makes Tenants and waits until they are Ready, beside a client (if there is one) that writes the same; by turns, so that both
 * meet a catalog that grows.
 */
export async function onboarding(
  { cluster, namespace }: Run,
  { pid }: OperatorProcess,
  control: BareClient | undefined,
  { tenants, rounds }: { readonly tenants: number; readonly rounds: number },
): Promise<Onboarded> {
  const { store, stop } = follow(cluster, TENANT, namespace);
  await store.waitForSync(AbortSignal.timeout(SYNC_LIMIT_MS));
  const readyOnes = (): number => store.list().filter((tenant) => conditionOf(tenant, 'Ready')?.status === 'True').length;
  const [ms, wrote] = [
    { ours: 0, control: 0 },
    { ours: 0, control: 0 },
  ];
  const measured = async (who: Who, work: () => Promise<unknown>): Promise<void> => {
    const before = await writes(cluster);
    const started = performance.now();
    await work();
    ms[who] += performance.now() - started;
    wrote[who] += countOf(difference(before, await writes(cluster)));
  };
  const each = Math.ceil(tenants / rounds);
  for (const round of range(rounds)) {
    const names = range(each).map(() => unique('many'));
    if (control) await measured('control', () => inParallel(names, CONCURRENCY, (name) => control.make(`${name}-c`)));
    const already = readyOnes();
    await measured('ours', async () => {
      await inParallel(names, CONCURRENCY, (name) => cluster.tenants.create(tenantOf(namespace, name)));
      await waitFor('all to be Ready', () => readyOnes() >= already + each, limitFor(each));
    });
    const made = (round + 1) * each;
    const times = `${(ms.ours / made).toFixed(0)} ms each${control ? `, the control's ${(ms.control / made).toFixed(0)}` : ''}`;
    const [memory, etcd] = [memoryOf(pid), await storageSize(cluster)].map((bytes) => (bytes / MIB).toFixed(0));
    progress(`operator: ${made} of ${each * rounds} tenants are Ready, ${times}; ${memory} MiB, etcd ${etcd} MiB`);
  }
  await stop();
  return { count: each * rounds, ms, writes: wrote };
}

/** The rows of the first Tenants. */
export function costs({ count, ms, writes: wrote }: Onboarded): Line[] {
  return [
    {
      what: `${count} Tenants to Ready`,
      ours: `${inSeconds(ms.ours, 0)}, ${(ms.ours / count).toFixed(0)} ms each`,
      control: `${inSeconds(ms.control, 0)} for a bare client`,
      ratio: ms.ours / ms.control,
      target: '≤ 1.5 ×',
      met: ms.ours <= 1.5 * ms.control,
    },
    {
      what: 'writes to the API server for each of them',
      ours: (wrote.ours / count).toFixed(1),
      control: `${(wrote.control / count).toFixed(1)} for a bare client`,
      ratio: wrote.ours / wrote.control,
      target: '≤ 1.1 ×',
      met: wrote.ours <= 1.1 * wrote.control,
    },
  ];
}

/** The operator's memory in bytes: with no Tenant, with the first ones, with all. */
export interface Memory {
  readonly none: number;
  readonly first: number;
  readonly all: number;
}

/** The rows of those that came last, beside the first. Both have a control. */
export function shape(first: Onboarded, last: Onboarded, all: number, memory: Memory): Line[] {
  const timeOf = (who: Who, { ms, count }: Onboarded): number => ms[who] / count;
  const growth = (who: Who): number => timeOf(who, last) / timeOf(who, first);
  const besideControl = ({ ms }: Onboarded): number => ms.ours / ms.control;
  const time = (each: Onboarded): string =>
    `${timeOf('ours', each).toFixed(0)} ms each, ${besideControl(each).toFixed(2)} × the bare client`;
  const memoryOfFirst = (memory.first - memory.none) / first.count;
  const memoryOfAll = (memory.all - memory.none) / all;
  const kib = (bytes: number): string => `${(bytes / 1_024).toFixed(0)} KiB each`;
  return [
    {
      what: `time of the last ${last.count} of ${all} Tenants, beside a bare client`,
      ours: time(last),
      control:
        `${time(first)} for the first ${first.count}, of which the last took ${growth('ours').toFixed(2)} × as long ` +
        `(the bare client ${growth('control').toFixed(2)} ×)`,
      ratio: besideControl(last) / besideControl(first),
      target: `≤ ${SHAPE} ×`,
      met: besideControl(last) <= SHAPE * besideControl(first),
    },
    {
      what: `memory of the operator for ${all} Tenants`,
      ours: `${(memory.all / MIB).toFixed(0)} MiB, ${kib(memoryOfAll)}`,
      control: `${kib(memoryOfFirst)} for ${first.count}`,
      ratio: memoryOfAll / memoryOfFirst,
      target: `≤ ${SHAPE} ×`,
      met: memoryOfAll <= SHAPE * memoryOfFirst,
    },
  ];
}
