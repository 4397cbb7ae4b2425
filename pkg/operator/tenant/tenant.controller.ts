import type { Informer } from '../../kube/informer.ts';
import type { Namespace } from '../../kube/kinds.ts';
import { isDeleting, type ObjectKey } from '../../kube/object.ts';
import { done, requeueAfter, type Result } from '../../kube/result.ts';
import type { Store } from '../../kube/store.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ConditionRunner, type Step } from '../conditions/runner.ts';
import type { StepTimer } from '../conditions/step-timer.ts';
import type { ConditionWriter } from '../conditions/writer.ts';
import type { ObservedTenant, Tenant } from '../kinds.ts';
import { isTerminating } from '../namespaces.ts';
import type { AcceptanceStep, AcceptedTenant } from './acceptance/acceptance-step.ts';
import type { DatabaseAccess, DatabaseStep } from './database/database-step.ts';
import type { TenantFinalizer } from './deletion/finalizer.ts';
import type { HelpersStep } from './helpers/helpers-step.ts';
import { accessOf } from './limits/limits.ts';
import type { KeysStep, KeysAccess } from './keys/keys-step.ts';
import type { RedisAccess, RedisStep } from './redis/redis-step.ts';
import type { RotationStep } from './rotation/rotation-step.ts';
import { tenantStatus } from './status/status.ts';
import type { StorageAccess, StorageStep } from './storage/storage-step.ts';
import type { Usages } from './limits/usages.ts';
import type { Workload, WorkloadStep } from './workload/workload-step.ts';

type TenantStep =
  | 'Accepted'
  | 'DatabaseReady'
  | 'StorageReady'
  | 'RedisReady'
  | 'KeysReady'
  | 'HelpersReady'
  | 'WorkloadAvailable'
  | 'Exposed'
  | 'CredentialsReady';

/** The copy of the namespaces may lag behind that of the Tenants: a namespace may have been recreated under its name. */
const TERMINATING_RETRY_MS = 1_000;

/** The steps; each has a folder of its own beside this file. */
export interface TenantSteps {
  readonly acceptance: AcceptanceStep;
  readonly database: DatabaseStep;
  readonly storage: StorageStep;
  readonly redis: RedisStep;
  readonly keys: KeysStep;
  readonly helpers: HelpersStep;
  readonly workload: WorkloadStep;
  readonly rotation: RotationStep;
}

interface Deps {
  readonly tenants: Informer<Tenant>;
  readonly conditions: ConditionWriter<Tenant>;
  readonly finalizer: TenantFinalizer;
  readonly namespaces: Store<Namespace>;
  readonly steps: TenantSteps;
  readonly usages: Usages;
  readonly timeSteps: StepTimer;
  readonly clock: Clock;
}

interface WorkloadNeeds {
  readonly accepted: Step<AcceptedTenant>;
  readonly database: Step<DatabaseAccess>;
  readonly storage: Step<StorageAccess>;
  readonly cache: Step<RedisAccess>;
  readonly secrets: Step<KeysAccess>;
}

/**
 * Brings a tenant to the state that its resource describes (docs/design/resources-and-reconciliation.md).
 *
 * Invariants:
 * - Nothing outside the cluster is created before the finalizer is set, so nothing is left behind.
 * - A Tenant that is not accepted keeps what it has, other slugs' hosts excepted: no other step runs.
 * - A pass that finds nothing to do is two SQL statements, one more of a tenant that has helper services, no call of another
 *   store, and no write.
 */
export class TenantReconciler {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async reconcile(key: ObjectKey, signal: AbortSignal): Promise<Result> {
    const { tenants, conditions, namespaces, finalizer, steps, usages, clock } = this.#deps;
    const found = tenants.store.get(key);
    if (!found) return done;
    if (isDeleting(found)) return finalizer.finalize(found, signal);
    if (isTerminating(namespaces, key.namespace)) return requeueAfter(TERMINATING_RETRY_MS);
    const tenant = await conditions.begin(found);

    const runner = new ConditionRunner<TenantStep>(signal, this.#deps.timeSteps(key));
    const accepted = await runner.run('Accepted', {}, async () => {
      await steps.workload.withdrawForeignHosts(tenant);
      return steps.acceptance.run(tenant);
    });
    const database = await runner.run('DatabaseReady', { accepted }, ({ accepted }) =>
      steps.database.run(tenant, accepted, accessOf(tenant, usages.newest(tenant))),
    );
    const storage = await runner.run('StorageReady', { accepted }, ({ accepted }) => steps.storage.run(tenant, accepted, signal));
    const cache = await runner.run('RedisReady', { accepted }, ({ accepted }) => steps.redis.run(tenant, accepted));
    const secrets = await runner.run('KeysReady', { accepted, database }, ({ accepted, database }) =>
      steps.keys.run(tenant, accepted, database),
    );
    await runner.run('HelpersReady', { accepted, database }, ({ accepted, database }) =>
      steps.helpers.run(tenant, accepted, database),
    );
    const workload = await this.#workload(tenant, runner, { accepted, database, storage, cache, secrets });
    const rotation = await runner.run('CredentialsReady', { accepted, workload }, ({ accepted, workload }) =>
      steps.rotation.run(tenant, accepted, workload),
    );
    await runner.run('Exposed', { accepted }, ({ accepted }) => steps.workload.expose(tenant, accepted));
    const usage = secrets.value ? await usages.of(tenant) : undefined;
    await conditions.end(tenant, tenantStatus(tenant, runner, { accepted, database, workload, rotation, usage }, clock.now()));
    return runner.result();
  }

  /** A suspended tenant has no pods, even if steps failed. */
  #workload(tenant: ObservedTenant, runner: ConditionRunner<TenantStep>, needs: WorkloadNeeds): Promise<Step<Workload>> {
    const { workload } = this.#deps.steps;
    const isComplete = Object.values(needs).every((step) => step.value !== undefined);
    if (tenant.spec.suspended && !isComplete)
      return runner.run('WorkloadAvailable', { accepted: needs.accepted }, () => workload.stop(tenant));
    return runner.run('WorkloadAvailable', { ...needs }, ({ accepted, database, storage, cache, secrets }) =>
      workload.run(tenant, accepted, [database.checksum, storage.checksum, cache.checksum, secrets.checksum]),
    );
  }
}
