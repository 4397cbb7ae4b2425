import { Applier } from '../kube/apply.ts';
import { Controller, type ControllerOptions } from '../kube/controller.ts';
import { EventRecorder } from '../kube/events.ts';
import { LEASE, POD } from '../kube/kinds.ts';
import { keyOf, keyText, type KubeObject, type ObjectKey } from '../kube/object.ts';
import { PRIORITY } from '../kube/queue.ts';
import { ResourceApi } from '../kube/resource.ts';
import { forMapped, forObject, forOwner, type Source } from '../kube/sources.ts';
import { StatusWriter } from '../kube/status.ts';
import type { Store } from '../kube/store.ts';
import type { KubeClient } from '../kube/transport.ts';
import { guardedSockets } from '../net/guarded-sockets.ts';
import { parseAllowedRanges } from '../net/inward.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { SealingKey } from '../runtime/sealing.ts';
import type { StorageAdmin } from '../store/s3/admin.ts';
import { allInformers, BY_NAMED_SECRET, BY_TENANT, createInformers, haveSynced, ownedStores, type Informers } from './informers.ts';
import { TENANT, WEBHOOK, type LtiRegistration } from './kinds.ts';
import { ltiRegistrationReconciler } from './ltiregistration/ltiregistration.controller.ts';
import { unknownDeployments } from './ltiregistration/unknown-deployments.ts';
import { unknownValues } from './ltiregistration/unknown-values.ts';
import { longTransactions } from './long-transactions.ts';
import { FIELD_MANAGER, PREFIX } from './names.ts';
import { followNews, type News } from './news.ts';
import { lateServers } from './resealing/late-servers.ts';
import { Resealing } from './resealing/resealing.ts';
import { Secrets } from './secrets.ts';
import type { OperatorSettings } from './settings.ts';
import type { Shards } from './shards.ts';
import { TenantAccess } from './tenant-rows.ts';
import { Adoption } from './tenant/adoption.ts';
import { Administrators } from './tenant/administrator.ts';
import { Claims } from './tenant/claims.ts';
import { Databases } from './tenant/database.ts';
import { TenantFinalizer } from './tenant/finalizer.ts';
import { Keys } from './tenant/keys.ts';
import { Migrations } from './tenant/migrations.ts';
import type { TenantRedis } from './tenant/redis.ts';
import { Storages } from './tenant/storage.ts';
import { TenantReconciler } from './tenant/tenant.controller.ts';
import { Workloads } from './tenant/workload.ts';
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
}

/** Tenants that are brought to what they say at the same time; most of it is waiting. */
const TENANT_CONCURRENCY = 8;

/** The operator: copies of what it watches, kept always, and the three controllers, run only while it leads. */
export class Operator {
  readonly #deps: OperatorDeps;
  readonly #informers: Informers;
  readonly #events: EventRecorder;
  readonly #access: TenantAccess;
  readonly #resealing: Resealing;

  constructor(deps: OperatorDeps) {
    this.#deps = deps;
    this.#informers = createInformers(deps);
    this.#events = new EventRecorder({ ...deps, controller: `${PREFIX}/operator` });
    this.#access = new TenantAccess({ ...deps, tenants: this.#informers.tenants.store, namespaces: this.#informers.namespaces.store });
    const { tenants, owned } = this.#informers;
    const stores = { tenants: tenants.store, secrets: owned.secrets.store, deployments: owned.deployments.store };
    this.#resealing = new Resealing({
      ...deps,
      events: this.#events,
      leases: new ResourceApi(deps.client, LEASE),
      lateServers: () => lateServers(stores, deps.platformKeys[0]?.id ?? ''),
    });
  }

  /** Null: its copies are in, it can lead or stand by. */
  notReady(): string | null {
    return haveSynced(this.#informers) ? null : 'the first lists of the API server are not in yet';
  }

  /** Keeps the copies warm, until the signal is aborted. */
  async watch(signal: AbortSignal): Promise<void> {
    await Promise.all([...allInformers(this.#informers).map((informer) => informer.run(signal)), this.#events.run(signal)]);
  }

  /** Runs the controllers until the signal is aborted; resolves when their last reconcile has ended. */
  async lead(signal: AbortSignal): Promise<void> {
    const { tenants, registrations, webhooks } = this.#controllers();
    this.#deps.redis.forget();
    const again = (): void => this.#informers.tenants.store.list().forEach((tenant) => tenants.enqueue(keyOf(tenant), PRIORITY.resync));
    const stop = this.#deps.redis.onReconnect(again);
    try {
      const news = followNews(this.#news(webhooks), this.#deps, signal);
      await Promise.all([tenants.run(signal), registrations.run(signal), webhooks.run(signal), news, this.#resealing.run(signal)]);
    } finally {
      stop();
    }
  }

  #news(webhooks: Controller): News<never>[] {
    const { tenants, registrations, webhooks: hooks } = this.#informers;
    const ofRegistrations = { registrations: registrations.store, access: this.#access, events: this.#events };
    return [
      webhookHealth({ webhooks: hooks.store, enqueue: (key) => webhooks.enqueue(key) }),
      unknownDeployments(ofRegistrations),
      unknownValues(ofRegistrations),
      longTransactions({ ...this.#deps, tenants: tenants.store }),
    ];
  }

  #controllers(): Record<'tenants' | 'registrations' | 'webhooks', Controller> {
    const { tenants, registrations, webhooks, namespaces, namedSecrets, owned } = this.#informers;
    const { clock, random, settings } = this.#deps;
    const secrets = new Secrets(owned.secrets);
    const access = this.#access;
    const linked = { namespaces: namespaces.store, access, events: this.#events, clock, secrets };
    const namedBy = (store: Indexed): Source => forMapped(namedSecrets.store, (secret) => keysBy(store, BY_NAMED_SECRET, secret));
    const referringTo = (store: Indexed): Source => forMapped(tenants.store, (tenant) => keysBy(store, BY_TENANT, tenant));

    const egressAllow = parseAllowedRanges(settings.egressAllow);
    const ofTenants = this.#tenantReconciler(secrets);
    const ofRegistrations = ltiRegistrationReconciler({ ...linked, informer: registrations, egressAllow });
    const ofWebhooks = webhookReconciler({ ...linked, informer: webhooks, random, egressAllow });
    return {
      tenants: this.#controller('tenant', ofTenants, TENANT_CONCURRENCY, [
        forObject(tenants.store),
        ...Object.values(owned).map(({ store }) => forOwner(store as Store<KubeObject>, TENANT)),
        // These are read, and so waited for; what happens to them concerns no Tenant.
        forMapped(namespaces.store, () => []),
        forMapped(registrations.store, () => []),
        forMapped(webhooks.store, () => []),
        namedBy(tenants.store),
      ]),
      registrations: this.#controller('ltiregistration', ofRegistrations, 2, [
        forObject(registrations.store),
        referringTo(registrations.store),
        namedBy(registrations.store),
        siblingsIn(registrations.store),
      ]),
      webhooks: this.#controller('webhook', ofWebhooks, 2, [
        forObject(webhooks.store),
        forOwner(owned.secrets.store, WEBHOOK),
        referringTo(webhooks.store),
        namedBy(webhooks.store),
      ]),
    };
  }

  #tenantReconciler(secrets: Secrets): TenantReconciler {
    const { settings, client, shards, redis, storage, platformKeys, random, clock, log } = this.#deps;
    const { tenants, namespaces, owned } = this.#informers;
    const events = this.#events;
    const connect = guardedSockets({ allow: parseAllowedRanges(settings.egressAllow), clock });
    const applier = new Applier({ client, fieldManager: FIELD_MANAGER, annotationPrefix: PREFIX });
    const statusWriter = new StatusWriter(tenants);
    const claims = new Claims({ settings, shards, namespaces: namespaces.store, clock });
    const migrations = new Migrations({ concurrency: settings.migrationConcurrency });
    const administrators = new Administrators({ secrets, platformKeys, random });
    const pods = new ResourceApi(client, POD);
    return new TenantReconciler({
      tenants,
      statusWriter,
      claims,
      databases: new Databases({ shards, secrets, migrations, adoption: new Adoption(this.#informers), pods, random, clock }),
      storages: new Storages({ settings, shards, secrets, admin: storage, connect, redis, pods, random, log }),
      keys: new Keys({ shards, secrets, administrators, platformKeys }),
      workloads: new Workloads({
        settings,
        applier,
        stores: ownedStores(this.#informers),
        services: owned.services.api,
        deployments: owned.deployments.api,
        ingresses: owned.ingresses.api,
      }),
      finalizer: new TenantFinalizer({
        tenants,
        owned,
        pods,
        claims,
        shards,
        storage,
        connect,
        redis,
        migrations,
        statusWriter,
        events,
        clock,
      }),
      events,
      clock,
    });
  }

  #controller(
    name: string,
    reconciler: { reconcile: ControllerOptions['reconcile'] },
    concurrency: number,
    sources: readonly Source[],
  ): Controller {
    return new Controller({ ...this.#deps, name, concurrency, sources, reconcile: (key, signal) => reconciler.reconcile(key, signal) });
  }
}

/** Other registrations of the same tenant: what one says may be what another must not. */
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

const keysBy = (store: Indexed, index: string, object: KubeObject): ObjectKey[] => store.byIndex(index, keyText(keyOf(object))).map(keyOf);
