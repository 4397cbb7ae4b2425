import { children, follow, type OperatorProcess } from '../../support/cluster/operator.ts';
import { waitFor } from '../../support/wait.ts';
import type { Line } from '../measure.ts';
import { type BareClient, runs } from './bare-client.ts';
import { inSeconds, limitFor, type Run, SYNC_LIMIT_MS } from './run.ts';

const IMAGE = 'carrel:next';
/** The operator's own default (CARREL_ROLLOUT_CONCURRENCY). */
const AT_ONCE = 10;

interface RolledOut {
  readonly operator: OperatorProcess;
  /** Whose operators have the new image. */
  readonly run: Run;
  readonly line: Line;
}

/**
 * An operator of another image comes, as by an upgrade of the chart: every tenant gets it. The pods are played, so this is what
 * it costs beside their start.
 */
export async function rollout(run: Run, running: OperatorProcess, control: BareClient): Promise<RolledOut> {
  const { store, stop } = follow(run.cluster, children.DEPLOYMENT, run.namespace);
  await store.waitForSync(AbortSignal.timeout(SYNC_LIMIT_MS));
  const tenants = store.list().length;
  await running.end('SIGTERM');
  const started = performance.now();
  const next: Run = { ...run, start: (env) => run.start({ CARREL_IMAGE: IMAGE, ...env }) };
  const operator = await next.start();
  await waitFor('pods of the new image', () => store.list().every((each) => runs(each, IMAGE)), limitFor(tenants));
  const took = performance.now() - started;
  await stop();
  const before = performance.now();
  await control.rollOut(IMAGE, AT_ONCE);
  const controlTook = performance.now() - before;
  return {
    operator,
    run: next,
    line: {
      what: `a new image for ${tenants} tenants, ${AT_ONCE} at a time`,
      ours: `${inSeconds(took)}, ${(took / tenants).toFixed(0)} ms each`,
      control: `${inSeconds(controlTook)} for a bare client`,
      ratio: took / controlTook,
      target: '',
    },
  };
}
