import type { EventRecorder } from '../../kube/events.ts';
import { addFinalizer, hasFinalizer } from '../../kube/finalizers.ts';
import type { Informer } from '../../kube/informer.ts';
import { isDeleting, type ObjectKey } from '../../kube/object.ts';
import { done, requeueAfter, type Result } from '../../kube/result.ts';
import type { StatusWriter } from '../../kube/status.ts';
import type { Clock } from '../../runtime/clock.ts';
import { TENANT, type ObservedTenant, type Tenant } from '../kinds.ts';
import { FINALIZER } from '../names.ts';
import { announce } from '../announce.ts';
import type { Step } from '../steps.ts';
import type { Claim, Claims } from './claims.ts';
import type { DatabaseAccess, Databases } from './database.ts';
import type { TenantFinalizer } from './finalizer.ts';
import type { Keys, KeysAccess } from './keys.ts';
import { firstStatus, isNew, TenantStatusBuilder } from './status.ts';
import type { StorageAccess, Storages } from './storage.ts';
import type { Workload, Workloads } from './workload.ts';

/** The copy of the namespaces may be behind that of the Tenants: one that was made anew under its name is seen a moment later. */
const TERMINATING_RETRY_MS = 1_000;

interface Deps {
  readonly tenants: Informer<Tenant>;
  readonly statusWriter: StatusWriter<Tenant>;
  readonly finalizer: TenantFinalizer;
  readonly claims: Claims;
  readonly databases: Databases;
  readonly storages: Storages;
  readonly keys: Keys;
  readonly workloads: Workloads;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

interface WorkloadNeeds {
  readonly accepted: Step<Claim>;
  readonly database: Step<DatabaseAccess>;
  readonly storage: Step<StorageAccess>;
  readonly secrets: Step<KeysAccess>;
}

/**
 * Brings a tenant to what its resource says (design: section 4.2).
 *
 * Invariants:
 * - Nothing outside the cluster is made before the finalizer stands, so nothing is left behind.
 * - A Tenant that is not accepted keeps what it has, other slugs' hosts excepted: no other step runs.
 * - With nothing changed a pass is two statements, no call of another store, and no write.
 */
export class TenantReconciler {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async reconcile(key: ObjectKey, signal: AbortSignal): Promise<Result> {
    const { tenants, finalizer, claims, databases, storages, keys, workloads, clock } = this.#deps;
    const found = tenants.store.get(key);
    if (!found) return done;
    if (isDeleting(found)) return finalizer.finalize(found, signal);
    if (claims.isTerminating(key.namespace)) return requeueAfter(TERMINATING_RETRY_MS);
    const tenant = await this.#begin(found);

    const status = new TenantStatusBuilder(tenant, clock, signal);
    const accepted = await status.step('Accepted', {}, async () => {
      await workloads.withdrawForeignHosts(tenant);
      return claims.accept(tenant);
    });
    const database = await status.step('DatabaseReady', { accepted }, ({ accepted }) => databases.ensure(tenant, accepted));
    const storage = await status.step('StorageReady', { accepted }, ({ accepted }) => storages.ensure(tenant, accepted));
    const secrets = await status.step('KeysReady', { accepted, database }, ({ accepted, database }) =>
      keys.ensure(tenant, accepted, database),
    );
    const workload = await this.#workload(tenant, status, { accepted, database, storage, secrets });
    await status.step('Exposed', { accepted }, ({ accepted }) => workloads.expose(tenant, accepted));
    return this.#end(tenant, status.with({ accepted, database, workload }));
  }

  /** A suspended tenant has no pods, whatever else is amiss. */
  #workload(tenant: ObservedTenant, status: TenantStatusBuilder, needs: WorkloadNeeds): Promise<Step<Workload>> {
    const { workloads } = this.#deps;
    const isComplete = Object.values(needs).every((step) => step.value !== undefined);
    if (tenant.spec.suspended && !isComplete)
      return status.step('WorkloadAvailable', { accepted: needs.accepted }, () => workloads.stop(tenant));
    return status.step('WorkloadAvailable', { ...needs }, ({ accepted, database, storage, secrets }) =>
      workloads.run(tenant, accepted, [database.checksum, ...storage.checksums, secrets.checksum]),
    );
  }

  /** The first pass: a finalizer, and a condition to wait for. */
  async #begin(found: ObservedTenant): Promise<ObservedTenant> {
    const { tenants, statusWriter, clock } = this.#deps;
    const tenant = hasFinalizer(found, FINALIZER) ? found : await addFinalizer(tenants.api, found, FINALIZER, { store: tenants.store });
    return isNew(tenant) ? statusWriter.write(tenant, firstStatus(tenant, clock)) : tenant;
  }

  async #end(tenant: ObservedTenant, status: TenantStatusBuilder): Promise<Result> {
    const written = await this.#deps.statusWriter.write(tenant, status.build());
    announce(this.#deps.events, TENANT, tenant, written);
    return status.result();
  }
}
