import { Applier } from '../kube/apply.ts';
import { Controller, type ControllerOptions } from '../kube/controller.ts';
import { EventRecorder } from '../kube/events.ts';
import { DEPLOYMENT, LEASE, POD, SECRET } from '../kube/kinds.ts';
import { keyOf, keyText, type KubeObject, type ObjectKey } from '../kube/object.ts';
import { PRIORITY } from '../kube/work-queue.ts';
import { ResourceApi } from '../kube/resource.ts';
import { forMapped, forObject, forOwner, type Source } from '../kube/sources.ts';
import type { Store } from '../kube/store.ts';
import type { KubeClient } from '../kube/transport.ts';
import { guardedSockets } from '../net/guarded-sockets.ts';
import { parseAllowedRanges } from '../net/private-address.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { SealingKey } from '../runtime/sealing.ts';
import type { StorageAdmin } from '../store/s3/admin.ts';
import { stepTimer } from './conditions/runner.ts';
import { ConditionWriter } from './conditions/writer.ts';
import {
  allInformers,
  BY_GATEWAY,
  BY_NAMED_SECRET,
  BY_TENANT,
  createInformers,
  missingLists,
  type Informers,
} from './informers.ts';
import { TENANT, WEBHOOK, type LtiRegistration } from './kinds.ts';
import { ltiRegistrationReconciler } from './ltiregistration/ltiregistration.controller.ts';
import { deploymentChanges } from './ltiregistration/deployment-changes.ts';
import { createRequestedRegistrations } from './ltiregistration/registration-requests.ts';
import { reportUnknownDeployments } from './ltiregistration/unknown-deployments.ts';
import { reportUnknownValues } from './ltiregistration/unknown-values.ts';
import { longTransactions } from './long-transactions.ts';
import { FIELD_MANAGER, PREFIX } from './names.ts';
import { watchShards, type ShardChanges } from './shard-changes.ts';
import { onShardTurn, showShardStates } from './shard-states.ts';
import { outdatedServers } from './resealing/outdated-servers.ts';
import { Resealing } from './resealing/resealing.ts';
import { Secrets } from './secrets.ts';
import type { OperatorSettings } from './settings.ts';
import type { Shards } from './shards.ts';
import { TenantAccess } from './tenant-rows.ts';
import { Administrators } from './tenant/keys/administrator.ts';
import { Acceptance } from './tenant/acceptance/acceptance-step.ts';
import { Databases, type OrphanRows } from './tenant/database/database-step.ts';
import { reportIntegrityFaults } from './tenant/status/integrity-faults.ts';
import { TenantFinalizer } from './tenant/deletion/finalizer.ts';
import { HelperServices } from './tenant/helpers/helpers-step.ts';
import { GeneratedPassword } from './tenant/secrets/generated-password.ts';
import { Keys } from './tenant/keys/keys-step.ts';
import { Migrations } from './tenant/database/migrations.ts';
import { Moves, movingTenants } from './tenant/moves/moves.ts';
import { RedisAccesses } from './tenant/redis/redis-step.ts';
import type { TenantRedis } from './tenant/redis/redis-users.ts';
import { Rollouts } from './tenant/workload/rollouts.ts';
import { Rotations } from './tenant/rotation/rotation-step.ts';
import { SpecifiedSchedules } from './tenant/schedules/specified-schedules.ts';
import { Storages } from './tenant/storage/storage-step.ts';
import { TenantReconciler } from './tenant/tenant.controller.ts';
import { Usages } from './tenant/limits/usages.ts';
import { Workloads } from './tenant/workload/workload-step.ts';
import { webhookHealth } from './webhook/health.ts';
import { webhookReconciler } from './webhook/webhook.controller.ts';

export interface OperatorDeps {
  readonly settings: OperatorSettings;
  readonly client: KubeClient;
  readonly shards: Shards;
  readonly redis: TenantRedis;
  /** Undefined: the platform makes no buckets, tenants name theirs. */
  readonly storage: StorageAdmin | undefined;
  readonly platformKeys: readonly SealingKey[];
  /** By which operators elect their leader. */
  readonly lease: ObjectKey;
  /** Which of several operators writes an Event. */
  readonly instance: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Between two polls of a shard for changes; left out: 5 s. */
  readonly shardPollMs?: number;
  /** Before the second pass of resealing; left out: 5 s. */
  readonly firstResealWaitMs?: number;
  /** Of the counts of what tenants use; left out: 30 s, an hour and 5 minutes. */
  readonly usageIntervals?: { readonly lookMs: number; readonly everyMs: number; readonly measureMs?: number };
}

/** Tenants that are reconciled at the same time; most of a reconcile is waiting. */
const TENANT_CONCURRENCY = 8;

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

  /** Null: the watches have synced, and the operator can lead or stand by. */
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
      // An error: it does not lead any more.
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

  #shardChanges(ofTenants: Controller, ofLms: Controller, webhooks: Controller): ShardChanges<never>[] {
    const { tenants, registrations, webhooks: hooks } = this.#informers;
    const ofRegistrations = { registrations: registrations.store, access: this.#access, events: this.#events };
    return [
      webhookHealth({ webhooks: hooks.store, enqueue: (key) => webhooks.enqueue(key) }),
      reportIntegrityFaults({ tenants: tenants.store, events: this.#events }),
      reportUnknownDeployments(ofRegistrations),
      reportUnknownValues(ofRegistrations),
      deploymentChanges({ tenants: tenants.store, registrations: registrations.store, enqueue: (key) => ofLms.enqueue(key) }),
      createRequestedRegistrations({
        ...this.#deps,
        tenants: tenants.store,
        registrations: registrations.store,
        api: registrations.api,
        events: this.#events,
      }),
      longTransactions({ ...this.#deps, tenants: tenants.store }),
      movingTenants({ tenants: tenants.store, enqueue: (key) => ofTenants.enqueue(key, PRIORITY.resync) }),
    ];
  }

  #controllers(): Record<'tenants' | 'registrations' | 'webhooks', Controller> {
    const { tenants, registrations, webhooks, namespaces, namedSecrets, gateways, owned } = this.#informers;
    const { clock, random, settings, metrics } = this.#deps;
    const secrets = new Secrets({ ...owned.of(SECRET), events: this.#events });
    const access = this.#access;
    const tenantScoped = { namespaces: namespaces.store, access, events: this.#events, clock, secrets };
    const namedBy = (store: Indexed): Source => forMapped(namedSecrets.store, (secret) => keysBy(store, BY_NAMED_SECRET, secret));
    const referringTo = (store: Indexed): Source => forMapped(tenants.store, (tenant) => keysBy(store, BY_TENANT, tenant));

    const egressAllow = parseAllowedRanges(settings.egressAllow);
    const ofRegistrations = ltiRegistrationReconciler({
      ...tenantScoped,
      informer: registrations,
      egressAllow,
      observeStep: stepTimer(metrics, 'ltiregistration'),
    });
    const ofWebhooks = webhookReconciler({
      ...tenantScoped,
      informer: webhooks,
      random,
      egressAllow,
      observeStep: stepTimer(metrics, 'webhook'),
    });
    const ofTenants = this.#tenantReconciler(secrets, [ofWebhooks, ofRegistrations]);
    return {
      tenants: this.#controller('tenant', ofTenants, TENANT_CONCURRENCY, [
        forObject(tenants.store),
        ...owned.all.map(({ store }) => forOwner(store, TENANT)),
        // The reconcile reads these, so it waits for their first lists; their changes concern no Tenant.
        forMapped(namespaces.store, () => []),
        forMapped(registrations.store, () => []),
        forMapped(webhooks.store, () => []),
        namedBy(tenants.store),
        forMapped(gateways.store, (gateway) => keysBy(tenants.store, BY_GATEWAY, gateway)),
      ]),
      registrations: this.#controller('ltiregistration', ofRegistrations, 2, [
        forObject(registrations.store),
        referringTo(registrations.store),
        namedBy(registrations.store),
        siblingsIn(registrations.store),
      ]),
      webhooks: this.#controller('webhook', ofWebhooks, 2, [
        forObject(webhooks.store),
        forOwner(owned.of(SECRET).store, WEBHOOK),
        referringTo(webhooks.store),
        namedBy(webhooks.store),
      ]),
    };
  }

  #tenantReconciler(secrets: Secrets, orphans: readonly OrphanRows[]): TenantReconciler {
    const { settings, client, shards, redis, storage, platformKeys, random, clock, log, metrics } = this.#deps;
    const { tenants, namespaces, gateways, owned } = this.#informers;
    const events = this.#events;
    const egressAllow = parseAllowedRanges(settings.egressAllow);
    const connect = guardedSockets({ allow: egressAllow, clock });
    const applier = new Applier({ client, fieldManager: FIELD_MANAGER, annotationPrefix: PREFIX });
    const conditions = new ConditionWriter({ informer: tenants, events, clock });
    const acceptance = new Acceptance({ settings, shards, namespaces: namespaces.store, clock });
    const passwordOf = (name: 'database' | 'redis') => new GeneratedPassword({ name, shards, secrets, random });
    const migrations = new Migrations({ concurrency: settings.migrationConcurrency });
    const administrators = new Administrators({ secrets, platformKeys, random });
    const pods = new ResourceApi(client, POD);
    const moves = new Moves({ shards, access: this.#access });
    const storages = new Storages({ settings, shards, secrets, admin: storage, connect, pods, random, log });
    return new TenantReconciler({
      tenants,
      conditions,
      namespaces: namespaces.store,
      acceptance,
      databases: new Databases({ shards, secrets, password: passwordOf('database'), migrations, orphans, pods, moves, clock }),
      storages,
      redis: new RedisAccesses({ settings, secrets, password: passwordOf('redis'), redis }),
      keys: new Keys({ shards, secrets, administrators, schedules: new SpecifiedSchedules({ clock }), platformKeys }),
      helpers: new HelperServices({ secrets, platformKeys, egressAllow, random }),
      workloads: new Workloads({ settings, applier, owned, gateways: gateways.store, rollouts: this.#rollouts }),
      usages: this.#usages,
      rotations: new Rotations({ tenants: tenants.api, pods, shards, storages, events, platformKeys, random, clock }),
      finalizer: new TenantFinalizer({
        moves,
        tenants,
        owned,
        pods,
        acceptance,
        shards,
        storage,
        connect,
        redis,
        migrations,
        rollouts: this.#rollouts,
        conditions,
        events,
        clock,
      }),
      observeStep: stepTimer(metrics, 'tenant'),
      clock,
    });
  }

  #controller(
    name: string,
    reconciler: { reconcile: ControllerOptions['reconcile'] },
    concurrency: number,
    sources: readonly Source[],
  ): Controller {
    return new Controller({
      ...this.#deps,
      name,
      concurrency,
      sources,
      reconcile: (key, signal) => reconciler.reconcile(key, signal),
    });
  }
}

/** Other registrations of the same tenant, which may conflict with it. */
const siblingsIn = (store: Store<LtiRegistration>): Source =>
  forMapped(store, ({ metadata, spec }) =>
    store
      .byIndex(BY_TENANT, `${metadata.namespace}/${spec.tenantRef.name}`)
      .filter((other) => other.metadata.name !== metadata.name)
      .map(keyOf),
  );

interface Indexed {
  byIndex(name: string, value: string): KubeObject[];
}

const keysBy = (store: Indexed, index: string, object: KubeObject): ObjectKey[] =>
  store.byIndex(index, keyText(keyOf(object))).map(keyOf);
