import { TENANTS } from '../../../crds/types.generated.ts';
import { defineKind, type KubeObject, type Observed } from '../../kube/object.ts';
import { ResourceApi } from '../../kube/resource.ts';
import { type Condition, findCondition } from '../../kube/status.ts';
import { pausedSince, pauseRollouts, resumeRollouts } from '../../store/postgres/rollouts.ts';
import type { Installation } from '../installation.ts';
import { withRegistry } from '../registry-access.ts';
import { listIn } from '../tenant-namespaces.ts';

interface TenantObject extends KubeObject {
  spec: { image?: string };
  status?: { conditions?: Condition[]; image?: string };
}

const TENANT = defineKind<TenantObject>(TENANTS);

interface Options {
  readonly installation: Installation;
}

type State = 'done' | 'rolling out' | 'waiting' | 'halted' | 'failed' | 'suspended' | 'not ready';

/** States by the reason of the condition `WorkloadAvailable`. */
const STATES: Readonly<Record<string, State>> = {
  Available: 'done',
  RollingOut: 'rolling out',
  RolloutWaits: 'waiting',
  RolloutPaused: 'waiting',
  RolloutHalted: 'halted',
  RolloutFailed: 'failed',
  PodsRefused: 'failed',
  Suspended: 'suspended',
  ScaledToZero: 'suspended',
};
const ORDER: readonly State[] = ['done', 'rolling out', 'waiting', 'halted', 'failed', 'suspended', 'not ready'];
/** The number of tenants of a state that are named. */
const MOST_NAMED = 5;

/**
 * Prints the progress of the operator's image and settings, and what holds it up. Returns false if it failed for a tenant, or is
 * halted.
 */
export async function rolloutStatus({ installation }: Options): Promise<boolean> {
  const since = await withRegistry(installation, pausedSince);
  const client = await installation.cluster();
  const tenants = await listIn(new ResourceApi(client, TENANT), installation.tenantNamespaces);
  await client.close();
  const groups = Map.groupBy(tenants, stateOf);
  process.stdout.write(`${tenants.length} ${tenants.length === 1 ? 'tenant' : 'tenants'}\n`);
  for (const state of ORDER) {
    const found = groups.get(state) ?? [];
    if (found.length > 0)
      process.stdout.write(`  ${state.padEnd(12)} ${String(found.length).padStart(5)}   ${describe(state, found)}\n`);
  }
  if (since) process.stdout.write(`Rollouts have been paused since ${since.toISOString()}. To continue: carrel rollout resume\n`);
  const isWell = !groups.has('failed') && !groups.has('halted');
  if (!isWell) process.stdout.write('kubectl describe tenant shows why a rollout failed (WorkloadAvailable).\n');
  return isWell;
}

const stateOf = ({ status }: Observed<TenantObject>): State =>
  STATES[findCondition(status?.conditions, 'WorkloadAvailable')?.reason ?? ''] ?? 'not ready';

/** Returns the images of finished tenants, or the names of the others. */
function describe(state: State, tenants: readonly Observed<TenantObject>[]): string {
  if (state === 'done') {
    const images = Map.groupBy(tenants, ({ status }) => status?.image ?? '?');
    return [...images].map(([image, { length }]) => `${length} × ${image}`).join(', ');
  }
  const names = tenants.slice(0, MOST_NAMED).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return [...names, ...(tenants.length > MOST_NAMED ? ['…'] : [])].join(', ');
}

/** Stops further rollouts; running ones end. Repeating it is harmless. */
export async function pause({ installation }: Options): Promise<void> {
  await withRegistry(installation, pauseRollouts);
  process.stdout.write('Rollouts are paused: running ones end, and no further one begins. To continue: carrel rollout resume\n');
}

export async function resume({ installation }: Options): Promise<void> {
  const was = await withRegistry(installation, resumeRollouts);
  process.stdout.write(was ? 'Rollouts continue within 15 seconds.\n' : 'Rollouts were not paused.\n');
}
