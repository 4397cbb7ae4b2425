import type { Deployment } from '../../../pkg/kube/kinds.ts';
import { keyOf } from '../../../pkg/kube/object.ts';
import { isRolledOut } from '../../../pkg/operator/tenant/workload/availability.ts';
import { imageIn } from '../../../pkg/operator/tenant/workload/rollouts.ts';
import { children, type Cluster, follow, type OperatorProcess } from '../../support/cluster/operator.ts';
import { inParallel, waitFor } from '../../support/wait.ts';
import type { Line } from '../measure.ts';
import type { BareClient } from './bare-client.ts';
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
  await waitFor('pods of the new image', () => store.list().every((each) => runs(each)), limitFor(tenants));
  const took = performance.now() - started;
  await stop();
  const before = performance.now();
  await rollOutBare(run.cluster, control.namespace);
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

/** The control: gives all Deployments of a namespace the image and waits until their pods have it. */
async function rollOutBare(cluster: Cluster, namespace: string): Promise<void> {
  const { store, api, stop } = follow(cluster, children.DEPLOYMENT, namespace);
  await store.waitForSync(AbortSignal.timeout(SYNC_LIMIT_MS));
  await inParallel(store.list(), AT_ONCE, async (deployment) => {
    const containers = deployment.spec?.template.spec?.containers.map((container) => ({ ...container, image: IMAGE }));
    await api.patch(keyOf(deployment), { spec: { template: { spec: { containers } } } });
    await waitFor(`pods of ${deployment.metadata.name}`, () => runs(store.get(keyOf(deployment))));
  });
  await stop();
}

/** All pods have the image. */
const runs = (deployment: Deployment | undefined): boolean =>
  deployment !== undefined && imageIn(deployment) === IMAGE && isRolledOut(deployment);
