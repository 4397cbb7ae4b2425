import { Applier } from '../../kube/apply.ts';
import { POD } from '../../kube/kinds.ts';
import { ResourceApi } from '../../kube/resource.ts';
import { forMapped, forObject, forOwner } from '../../kube/sources.ts';
import { guardedSockets } from '../../net/guarded-sockets.ts';
import { stepTimer } from '../conditions/step-timer.ts';
import { ConditionWriter } from '../conditions/writer.ts';
import type { ControllerDeps, ControllerSetup } from '../deps.ts';
import { TENANT } from '../kinds.ts';
import { FIELD_MANAGER, PREFIX } from '../names.ts';
import { exposedByGateway, namingSecret } from '../sources.ts';
import { AcceptanceStep } from './acceptance/acceptance-step.ts';
import { DatabaseStep, type OrphanRows } from './database/database-step.ts';
import { Migrations } from './database/migrations.ts';
import { TenantFinalizer } from './deletion/finalizer.ts';
import { HelpersStep } from './helpers/helpers-step.ts';
import { Administrators } from './keys/administrator.ts';
import { KeysStep } from './keys/keys-step.ts';
import type { Usages } from './limits/usages.ts';
import { Moves } from './moves/moves.ts';
import { RedisStep } from './redis/redis-step.ts';
import { RotationStep } from './rotation/rotation-step.ts';
import { SpecifiedRows } from './specified/specified-rows.ts';
import { GeneratedPassword } from './secrets/generated-password.ts';
import { StorageStep } from './storage/storage-step.ts';
import { TenantReconciler, type TenantSteps } from './tenant.controller.ts';
import type { Rollouts } from './workload/rollouts.ts';
import { WorkloadStep } from './workload/workload-step.ts';

const NAME = 'tenant';

/** Tenants that are reconciled at the same time; most of a reconcile is waiting. */
const CONCURRENCY = 8;

interface Deps extends ControllerDeps {
  /** The kinds whose rows are removed when a Tenant adopts retained data. */
  readonly orphans: readonly OrphanRows[];
  readonly rollouts: Rollouts;
  readonly usages: Usages;
}

/** The dependencies that several steps, or steps and finalizer, share. */
type Shared = ReturnType<typeof sharedBy>;

const sharedBy = ({ client, shards, access, settings, egressAllow, clock }: Deps) => ({
  pods: new ResourceApi(client, POD),
  moves: new Moves({ shards, access }),
  migrations: new Migrations({ concurrency: settings.migrationConcurrency }),
  connect: guardedSockets({ allow: egressAllow, clock }),
});

/** The controller of Tenants. */
export function setUpTenants(deps: Deps): ControllerSetup {
  const { informers, rollouts, usages, clock, events } = deps;
  const { tenants, namespaces, registrations, webhooks, owned } = informers;
  const conditions = new ConditionWriter({ informer: tenants, events, clock });
  const shared = sharedBy(deps);
  const steps = stepsOf(deps, shared);
  const finalizer = new TenantFinalizer({
    ...deps,
    ...shared,
    tenants,
    owned,
    acceptance: steps.acceptance,
    rollouts,
    conditions,
  });
  const timeSteps = stepTimer(deps, NAME);
  return {
    name: NAME,
    concurrency: CONCURRENCY,
    reconciler: new TenantReconciler({
      tenants,
      conditions,
      finalizer,
      namespaces: namespaces.store,
      steps,
      usages,
      timeSteps,
      clock,
    }),
    sources: [
      forObject(tenants.store),
      ...owned.all.map(({ store }) => forOwner(store, TENANT)),
      // The reconcile reads these, so it waits for their first lists; their changes concern no Tenant.
      forMapped(namespaces.store, () => []),
      forMapped(registrations.store, () => []),
      forMapped(webhooks.store, () => []),
      namingSecret(tenants.store, informers),
      exposedByGateway(informers),
    ],
  };
}

function stepsOf(deps: Deps, { pods, moves, migrations, connect }: Shared): TenantSteps {
  const { informers, settings, client, shards, secrets, platformKeys, random, clock } = deps;
  const { tenants, namespaces, gateways, owned } = informers;
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, annotationPrefix: PREFIX });
  const passwordOf = (name: 'database' | 'redis') => new GeneratedPassword({ name, shards, secrets, random });
  const administrators = new Administrators({ secrets, platformKeys, random });
  const rows = new SpecifiedRows({ clock });
  const storage = new StorageStep({ ...deps, admin: deps.storage, connect, pods });
  return {
    acceptance: new AcceptanceStep({ settings, shards, namespaces: namespaces.store, clock }),
    database: new DatabaseStep({ ...deps, password: passwordOf('database'), migrations, pods, moves }),
    storage,
    redis: new RedisStep({ ...deps, password: passwordOf('redis') }),
    keys: new KeysStep({ shards, secrets, administrators, rows, platformKeys }),
    helpers: new HelpersStep(deps),
    workload: new WorkloadStep({ ...deps, applier, owned, gateways: gateways.store }),
    rotation: new RotationStep({ ...deps, tenants: tenants.api, pods, storage }),
  };
}
