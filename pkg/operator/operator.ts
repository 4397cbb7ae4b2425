import { Controller } from '../kube/controller.ts';
import { EventRecorder } from '../kube/events.ts';
import { DEPLOYMENT, LEASE, SECRET } from '../kube/kinds.ts';
import { keyOf } from '../kube/object.ts';
import { PRIORITY } from '../kube/work-queue.ts';
import { ResourceApi } from '../kube/resource.ts';
import { parseAllowedRanges } from '../net/private-address.ts';
import { allInformers, createInformers, missingLists, type Informers } from './informers.ts';
import { deploymentChanges } from './ltiregistration/deployment-changes.ts';
import { createRequestedRegistrations } from './ltiregistration/registration-requests.ts';
import { reportUnknownDeployments } from './ltiregistration/unknown-deployments.ts';
import { reportUnknownValues } from './ltiregistration/unknown-values.ts';
import { longTransactions } from './long-transactions.ts';
import { PREFIX } from './names.ts';
import { watchShards, type ShardChanges } from './shard-changes.ts';
import { onShardTurn, showShardStates } from './shard-states.ts';
import { outdatedServers } from './resealing/outdated-servers.ts';
import { Resealing } from './resealing/resealing.ts';
import { Secrets } from './secrets.ts';
import { TenantAccess } from './tenant-rows.ts';
import { reportIntegrityFaults } from './tenant/status/integrity-faults.ts';
import { movingTenants } from './tenant/moves/moves.ts';
import { Rollouts } from './tenant/workload/rollouts.ts';
import { Usages } from './tenant/limits/usages.ts';
import { webhookHealth } from './webhook/health.ts';
import type { ControllerDeps, ControllerSetup, OperatorDeps } from './deps.ts';
import { setUpLtiRegistrations } from './ltiregistration/setup.ts';
import { setUpTenants } from './tenant/setup.ts';
import { setUpWebhooks } from './webhook/setup.ts';

/** The operator: watches, which always run, and three controllers, which run only while it leads. */
export class Operator {
  readonly #deps: OperatorDeps;
  readonly #informers: Informers;
  readonly #events: EventRecorder;
  readonly #access: TenantAccess;
  readonly #resealing: Resealing;
  readonly #usages: Usages;
  readonly #rollouts: Rollouts;

  constructor(deps: OperatorDeps) {
    this.#deps = deps;
    this.#informers = createInformers(deps, deps.settings.tenantNamespaces);
    this.#events = new EventRecorder({ ...deps, controller: `${PREFIX}/operator` });
    this.#access = new TenantAccess({
      ...deps,
      tenants: this.#informers.tenants.store,
      namespaces: this.#informers.namespaces.store,
    });
    const { tenants, owned } = this.#informers;
    showShardStates(deps.metrics, deps.shards);
    this.#rollouts = new Rollouts({
      ...deps,
      concurrency: deps.settings.rolloutConcurrency,
      deployments: owned.of(DEPLOYMENT).store,
    });
    this.#usages = new Usages({ ...deps, tenants: tenants.store, access: this.#access, ...deps.usageIntervals });
    const servers = { settings: deps.settings, tenants: tenants.store, deployments: owned.of(DEPLOYMENT).store };
    this.#resealing = new Resealing({
      ...deps,
      events: this.#events,
      leases: new ResourceApi(deps.client, LEASE),
      outdatedServers: () => outdatedServers(servers),
    });
  }

  /** Returns null if the watches have synced and the operator can lead or stand by, otherwise the reason. */
  notReady(): string | null {
    const missing = missingLists(this.#informers);
    return missing.length === 0 ? null : `the first lists of the API server have not arrived: ${missing.join(', ')}`;
  }

  /** Runs the watches until the signal is aborted. */
  async watch(signal: AbortSignal): Promise<void> {
    await Promise.all([...allInformers(this.#informers).map((informer) => informer.run(signal)), this.#events.run(signal)]);
  }

  /** Runs the controllers until the signal is aborted; resolves when their last reconcile has ended. */
  async lead(signal: AbortSignal): Promise<void> {
    const { tenants, registrations, webhooks } = this.#controllers();
    this.#deps.redis.resync();
    const resync = (): void =>
      this.#informers.tenants.store.list().forEach((tenant) => tenants.enqueue(keyOf(tenant), PRIORITY.resync));
    const stop = this.#deps.redis.onReconnect(resync);
    try {
      const { store } = this.#informers.owned.of(DEPLOYMENT);
      // An error means that it no longer leads.
      await Promise.all([store.waitForSync(signal), this.#informers.tenants.store.waitForSync(signal)]).catch(() => undefined);
      this.#rollouts.begin((key) => tenants.enqueue(key));
      const counting = this.#usages.run((key) => tenants.enqueue(key, PRIORITY.resync), signal);
      const onTurn = onShardTurn({
        ...this.#deps,
        tenants: this.#informers.tenants.store,
        enqueue: (key) => tenants.enqueue(key, PRIORITY.resync),
      });
      const watching = watchShards(this.#shardChanges(tenants, registrations, webhooks), { ...this.#deps, onTurn }, signal);
      await Promise.all([
        tenants.run(signal),
        registrations.run(signal),
        webhooks.run(signal),
        watching,
        counting,
        this.#resealing.run(signal),
        this.#deps.redis.watchConnections(this.#deps.clock, signal),
      ]);
    } finally {
      stop();
    }
  }

  #shardChanges(tenantController: Controller, registrationController: Controller, webhooks: Controller): ShardChanges<never>[] {
    const { tenants, registrations, webhooks: hooks } = this.#informers;
    const registrationDeps = { registrations: registrations.store, access: this.#access, events: this.#events };
    return [
      webhookHealth({ webhooks: hooks.store, enqueue: (key) => webhooks.enqueue(key) }),
      reportIntegrityFaults({ tenants: tenants.store, events: this.#events }),
      reportUnknownDeployments(registrationDeps),
      reportUnknownValues(registrationDeps),
      deploymentChanges({
        tenants: tenants.store,
        registrations: registrations.store,
        enqueue: (key) => registrationController.enqueue(key),
      }),
      createRequestedRegistrations({
        ...this.#deps,
        tenants: tenants.store,
        registrations: registrations.store,
        api: registrations.api,
        events: this.#events,
      }),
      longTransactions({ ...this.#deps, tenants: tenants.store }),
      movingTenants({ tenants: tenants.store, enqueue: (key) => tenantController.enqueue(key, PRIORITY.resync) }),
    ];
  }

  #controllers(): Record<'tenants' | 'registrations' | 'webhooks', Controller> {
    const deps: ControllerDeps = {
      ...this.#deps,
      informers: this.#informers,
      events: this.#events,
      access: this.#access,
      secrets: new Secrets({ ...this.#informers.owned.of(SECRET), events: this.#events }),
      egressAllow: parseAllowedRanges(this.#deps.settings.egressAllow),
    };
    const registrations = setUpLtiRegistrations(deps);
    const webhooks = setUpWebhooks(deps);
    const orphans = [webhooks.reconciler, registrations.reconciler];
    const tenants = setUpTenants({ ...deps, orphans, rollouts: this.#rollouts, usages: this.#usages });
    return {
      tenants: this.#controller(tenants),
      registrations: this.#controller(registrations),
      webhooks: this.#controller(webhooks),
    };
  }

  #controller({ reconciler, ...setup }: ControllerSetup): Controller {
    return new Controller({ ...this.#deps, ...setup, reconcile: (key, signal) => reconciler.reconcile(key, signal) });
  }
}
