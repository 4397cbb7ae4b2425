import { LEASE } from '../../../pkg/kube/kinds.ts';
import { difference, writes } from '../../support/cluster/apiserver-metrics.ts';
import { conditionOf, type OperatorProcess, tenantOf, unique } from '../../support/cluster/operator.ts';
import { range, waitFor } from '../../support/wait.ts';
import type { Line } from '../measure.ts';
import { countOf, inSeconds, limitFor, type Run, SHAPE } from './run.ts';

/** The operator that leads now, and what was measured. */
interface Next {
  readonly operator: OperatorProcess;
  readonly lines: Line[];
}

/** The time that a new operator took to look at this number of Tenants. */
export interface RestartTime {
  readonly tenants: number;
  readonly ms: number;
}

/**
 * Stops the operator and starts another. `first`: of fewer Tenants, whose time for each is the measure; left out: half a minute
 * is.
 */
export async function restart(
  run: Run,
  running: OperatorProcess,
  first?: RestartTime,
): Promise<Next & { readonly time: RestartTime }> {
  const { cluster } = run;
  const tenants = (await cluster.tenants.list()).length;
  await running.end('SIGTERM');
  const before = await writes(cluster);
  const started = performance.now();
  const operator = await run.start();
  await observed(operator, tenants);
  const time = { tenants, ms: performance.now() - started };
  const written = countOf(difference(before, await writes(cluster)));
  return {
    operator,
    time,
    lines: [
      { what: `${tenants} Tenants observed after a restart of the operator`, ...judged(time, first) },
      { what: 'writes by that', ours: String(written), control: '', target: '0', met: written === 0 },
    ],
  };
}

function judged({ tenants, ms }: RestartTime, first: RestartTime | undefined): Omit<Line, 'what'> {
  if (!first) return { ours: inSeconds(ms), control: '', target: '< 30 s', met: ms < 30_000 };
  const [each, before] = [ms / tenants, first.ms / first.tenants];
  return {
    ours: `${inSeconds(ms)}, ${each.toFixed(1)} ms each`,
    control: `${before.toFixed(1)} ms each of ${first.tenants}`,
    ratio: each / before,
    target: `≤ ${SHAPE} ×`,
    met: each <= SHAPE * before,
  };
}

/** With 5,000 Tenants the operator writes 1.2 MB of metrics in 0.3 s: reading them without a pause would halve its other work. */
const SCRAPE_PAUSE_MS = 500;

async function observed(operator: OperatorProcess, tenants: number): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    await new Promise((resolve) => setTimeout(resolve, SCRAPE_PAUSE_MS));
    return (await reconciles(operator)) >= tenants;
  };
  await waitFor('a reconcile of every Tenant', isDone, limitFor(tenants));
}

/** A standby waits each time: for the end of a leader that is killed, and of one that is stopped. */
export async function takeover(run: Run, running: OperatorProcess): Promise<Next> {
  const second = await standby(run);
  const afterKill = await untilAnotherLeads(run, () => running.end('SIGKILL'));
  await observed(second, (await run.cluster.tenants.list()).length);
  const third = await standby(run);
  const afterStop = await untilAnotherLeads(run, () => second.end('SIGTERM'));
  await observed(third, (await run.cluster.tenants.list()).length);
  const fourth = await standby(run);
  const afterBusyStop = await whileItOnboards(run, () => untilAnotherLeads(run, () => third.end('SIGTERM')));
  const what = 'another operator leads after one that was';
  return {
    operator: fourth,
    lines: [
      { what: `${what} killed with -9`, ours: inSeconds(afterKill), control: '', target: '< 20 s', met: afterKill < 20_000 },
      { what: `${what} stopped`, ours: inSeconds(afterStop), control: '', target: '< 2 s', met: afterStop < 2_000 },
      {
        what: `${what} stopped while it made ${WHILE_STOPPED} tenants`,
        ours: inSeconds(afterBusyStop),
        control: '',
        target: '< 2 s',
        met: afterBusyStop < 2_000,
      },
    ],
  };
}

/** Tenants that are made while a leader stops: its reconciles are all at work. */
export const WHILE_STOPPED = 24;

async function whileItOnboards({ cluster, namespace }: Run, measure: () => Promise<number>): Promise<number> {
  const keys = range(WHILE_STOPPED).map(() => ({ namespace, name: unique('late') }));
  await Promise.all(keys.map(({ name }) => cluster.tenants.create(tenantOf(namespace, name))));
  const ready = async (): Promise<number> => {
    const all = await Promise.all(keys.map((key) => cluster.tenants.get(key)));
    return all.filter((tenant) => conditionOf(tenant, 'Ready')?.status === 'True').length;
  };
  await waitFor('the first of them to be Ready', async () => (await ready()) > 0);
  const ms = await measure();
  await waitFor('all of them to be Ready', async () => (await ready()) === WHILE_STOPPED, limitFor(WHILE_STOPPED));
  return ms;
}

async function standby(run: Run): Promise<OperatorProcess> {
  const operator = await run.start();
  await waitFor('a standby that is ready', async () => (await fetch(`${opsOf(operator)}/readyz`)).ok);
  return operator;
}

async function untilAnotherLeads({ cluster }: Run, end: () => Promise<unknown>): Promise<number> {
  const holder = async (): Promise<string | undefined> =>
    (await cluster.of(LEASE).get({ namespace: 'carrel-system', name: 'carrel-operator' })).spec?.holderIdentity;
  const former = await holder();
  const began = performance.now();
  void end();
  await waitFor('another leader', async () => ![undefined, '', former].includes(await holder()));
  return performance.now() - began;
}

/** Throws until it listens. */
function opsOf(operator: OperatorProcess): string {
  const port = /"opsPort":(\d+)/.exec(operator.output())?.[1];
  if (port === undefined) throw new Error('the operator does not listen yet');
  return `http://127.0.0.1:${port}`;
}

async function reconciles(operator: OperatorProcess): Promise<number> {
  const text = await (await fetch(`${opsOf(operator)}/metrics`)).text();
  return [...text.matchAll(/^controller_runtime_reconcile_total\{([^}]*)\} (\d+)/gm)]
    .filter(([, labels = '']) => labels.includes('controller="tenant"') && !labels.includes('result="error"'))
    .reduce((sum, [, , count]) => sum + Number(count), 0);
}
