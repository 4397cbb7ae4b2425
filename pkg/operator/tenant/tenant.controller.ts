import type { Informer } from '../../kube/informer.ts';
import type { Namespace } from '../../kube/kinds.ts';
import { isDeleting, type ObjectKey } from '../../kube/object.ts';
import { done, requeueAfter, type Result } from '../../kube/result.ts';
import type { Store } from '../../kube/store.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ConditionRunner, type ObserveStep, type Step } from '../conditions/runner.ts';
import type { ConditionWriter } from '../conditions/writer.ts';
import type { ObservedTenant, Tenant } from '../kinds.ts';
import { isTerminating } from '../namespaces.ts';
import type { Acceptance, AcceptedTenant } from './acceptance/acceptance-step.ts';
import type { DatabaseAccess, Databases } from './database/database-step.ts';
import type { TenantFinalizer } from './deletion/finalizer.ts';
import type { HelperServices } from './helpers/helpers-step.ts';
import { accessOf } from './limits/limits.ts';
import type { Keys, KeysAccess } from './keys/keys-step.ts';
import type { RedisAccess, RedisAccesses } from './redis/redis-step.ts';
import type { Rotations } from './rotation/rotation-step.ts';
import { tenantStatus } from './status/status.ts';
import type { StorageAccess, Storages } from './storage/storage-step.ts';
import type { Usages } from './limits/usages.ts';
import type { Workload, Workloads } from './workload/workload-step.ts';

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

/** The copy of the namespaces may be behind that of the Tenants: a namespace may have been recreated under its name. */
const TERMINATING_RETRY_MS = 1_000;

interface Deps {
  readonly tenants: Informer<Tenant>;
  readonly conditions: ConditionWriter<Tenant>;
  readonly finalizer: TenantFinalizer;
  readonly namespaces: Store<Namespace>;
  readonly acceptance: Acceptance;
  readonly databases: Databases;
  readonly storages: Storages;
  readonly redis: RedisAccesses;
  readonly keys: Keys;
  readonly helpers: HelperServices;
  readonly workloads: Workloads;
  readonly rotations: Rotations;
  readonly usages: Usages;
  readonly observeStep: ObserveStep;
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
    const {
      tenants,
      conditions,
      namespaces,
      finalizer,
      acceptance,
      databases,
      storages,
      redis,
      keys,
      helpers,
      workloads,
      rotations,
      usages,
      clock,
    } = this.#deps;
    const found = tenants.store.get(key);
    if (!found) return done;
    if (isDeleting(found)) return finalizer.finalize(found, signal);
    if (isTerminating(namespaces, key.namespace)) return requeueAfter(TERMINATING_RETRY_MS);
    const tenant = await conditions.begin(found);

    const steps = new ConditionRunner<TenantStep>(signal, this.#deps.observeStep);
    const accepted = await steps.run('Accepted', {}, async () => {
      await workloads.withdrawForeignHosts(tenant);
      return acceptance.accept(tenant);
    });
    const database = await steps.run('DatabaseReady', { accepted }, ({ accepted }) =>
      databases.ensure(tenant, accepted, accessOf(tenant, usages.newest(tenant))),
    );
    const storage = await steps.run('StorageReady', { accepted }, ({ accepted }) => storages.ensure(tenant, accepted, signal));
    const cache = await steps.run('RedisReady', { accepted }, ({ accepted }) => redis.ensure(tenant, accepted));
    const secrets = await steps.run('KeysReady', { accepted, database }, ({ accepted, database }) =>
      keys.ensure(tenant, accepted, database),
    );
    await steps.run('HelpersReady', { accepted, database }, ({ accepted, database }) =>
      helpers.ensure(tenant, accepted, database),
    );
    const workload = await this.#workload(tenant, steps, { accepted, database, storage, cache, secrets });
    const rotation = await steps.run('CredentialsReady', { accepted, workload }, ({ accepted, workload }) =>
      rotations.advance(tenant, accepted, workload),
    );
    await steps.run('Exposed', { accepted }, ({ accepted }) => workloads.expose(tenant, accepted));
    const usage = secrets.value ? await usages.of(tenant) : undefined;
    await conditions.end(tenant, tenantStatus(tenant, steps, { accepted, database, workload, rotation, usage }, clock.now()));
    return steps.result();
  }

  /** A suspended tenant has no pods, even if steps failed. */
  #workload(tenant: ObservedTenant, steps: ConditionRunner<TenantStep>, needs: WorkloadNeeds): Promise<Step<Workload>> {
    const { workloads } = this.#deps;
    const isComplete = Object.values(needs).every((step) => step.value !== undefined);
    if (tenant.spec.suspended && !isComplete)
      return steps.run('WorkloadAvailable', { accepted: needs.accepted }, () => workloads.stop(tenant));
    return steps.run('WorkloadAvailable', { ...needs }, ({ accepted, database, storage, cache, secrets }) =>
      workloads.run(tenant, accepted, [database.checksum, storage.checksum, cache.checksum, secrets.checksum]),
    );
  }
}
