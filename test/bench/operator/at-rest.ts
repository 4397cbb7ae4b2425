import { difference, writes } from '../../support/cluster/apiserver-metrics.ts';
import { type OperatorProcess } from '../../support/cluster/operator.ts';
import { type Line, progress } from '../measure.ts';
import { countOf, inSeconds, memoryOf, MIB, type Run } from './run.ts';

/** Events are written late: those of the last tenant too. */
const EVENTS_MS = 45_000;

/** Measures what the operator writes and holds while nothing changes. */
export async function atRest({ cluster }: Run, { pid }: OperatorProcess, restMs: number): Promise<Line[]> {
  await new Promise((resolve) => setTimeout(resolve, EVENTS_MS));
  const before = await writes(cluster);
  const counted = await cluster.tenants.list();
  progress(`operator: at rest for ${inSeconds(restMs, 0)}`);
  await new Promise((resolve) => setTimeout(resolve, restMs));
  const written = countOf(difference(before, await writes(cluster)));
  const memory = memoryOf(pid) / MIB;
  const allowed = 100 + (20 * counted.length) / 1_000;
  return [
    { what: `writes in ${inSeconds(restMs, 0)} at rest`, ours: String(written), control: '', target: '0', met: written === 0 },
    {
      what: `memory of the operator with ${counted.length} Tenants`,
      ours: `${memory.toFixed(0)} MiB`,
      control: '',
      target: `< ${allowed.toFixed(0)} MiB`,
      met: memory < allowed,
    },
  ];
}
