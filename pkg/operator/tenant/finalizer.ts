import type { EventRecorder } from '../../kube/events.ts';
import { removeFinalizer } from '../../kube/finalizers.ts';
import type { Pod } from '../../kube/kinds.ts';
import { isDeleting, keyOf, type KubeObject } from '../../kube/object.ts';
import { isControlledBy } from '../../kube/owner.ts';
import type { Informer } from '../../kube/informer.ts';
import type { ResourceApi } from '../../kube/resource.ts';
import { done, requeueAfter, type Result } from '../../kube/result.ts';
import type { StatusWriter } from '../../kube/status.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { RegisteredTenant } from '../../store/postgres/registry.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { bucketName, type StorageAdmin } from '../../store/s3/admin.ts';
import type { Connect } from '../../store/s3/client.ts';
import { MARKER_KEY } from '../../store/s3/marker.ts';
import type { Informers } from '../informers.ts';
import { TENANT, type ObservedTenant, type Tenant } from '../kinds.ts';
import { FINALIZER, selectorText } from '../names.ts';
import type { Shards } from '../shards.ts';
import { failureOf } from '../steps.ts';
import type { Claims } from './claims.ts';
import type { Migrations } from './migrations.ts';
import { text } from './moved-storage.ts';
import { removeNamedObjects } from './named-storage.ts';
import type { TenantRedis } from './redis.ts';
import { deletingStatus } from './status.ts';
import { openable, type StorageCredentials } from './storage.ts';

/** Deleting the objects of a bucket takes as long as there are objects; a pass works on them for so long and goes on with the next. */
const BUCKET_BUDGET_MS = 20_000;
/** The same for large objects in the database, where a tenant made some. */
const DATABASE_BUDGET_MS = 20_000;
const PODS_RETRY_MS = 500;
const BUCKET_RETRY_MS = 60_000;

interface Deps {
  readonly tenants: Informer<Tenant>;
  readonly owned: Informers['owned'];
  readonly pods: ResourceApi<Pod>;
  readonly claims: Claims;
  readonly shards: Shards;
  readonly storage: StorageAdmin | undefined;
  /** For endpoints that tenants named. */
  readonly connect: Connect;
  readonly redis: TenantRedis;
  readonly migrations: Migrations;
  readonly statusWriter: StatusWriter<Tenant>;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/**
 * What happens to a Tenant that is being deleted: workloads go first, then what they used.
 *
 * Invariants:
 * - Every step may be done twice, and a pass begins anew with what is left: an operator that is killed goes on where it was.
 * - With `Retain` nothing but workloads and access goes: nobody is signed in to data that are kept. With `Delete` the registry forgets the tenant last, so that its slug is not
 *   given to another while anything of it is left.
 * - The status says what is waited for.
 * - Once it is told to stop, it goes no step further: another may lead by now, and what it would remove may be a new tenant of that name.
 */
export class TenantFinalizer {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async finalize(tenant: ObservedTenant, signal: AbortSignal): Promise<Result> {
    const { tenants, statusWriter, clock } = this.#deps;
    if (!tenant.metadata.finalizers?.includes(FINALIZER)) return done;
    try {
      const waitsFor = (await this.#removeWorkloads(tenant)) ?? (await this.#letGo(tenant, signal));
      if (waitsFor) {
        await statusWriter.write(tenant, deletingStatus(tenant, `waits for ${waitsFor.what}`, clock));
        return requeueAfter(waitsFor.retryMs);
      }
    } catch (error) {
      if (signal.aborted) throw error;
      const { message } = failureOf(error);
      await statusWriter.write(tenant, deletingStatus(tenant, message, clock));
      throw error;
    }
    this.#announce(tenant);
    await removeFinalizer(tenants.api, tenant, FINALIZER, { store: tenants.store });
    return done;
  }

  /** What became of the data; one that was never accepted had none. */
  #announce(tenant: ObservedTenant): void {
    const tenantId = tenant.status?.tenantId;
    if (tenantId === undefined) return;
    const kept = tenant.spec.deletionPolicy === 'Retain';
    this.#deps.events.record(tenant, TENANT, {
      type: 'Normal',
      reason: kept ? 'DataRetained' : 'DataDeleted',
      message: `the data of tenant ${tenantId} are ${kept ? 'kept' : 'deleted'}`,
    });
  }

  /** The children, and then until no pod is left. */
  async #removeWorkloads(tenant: ObservedTenant): Promise<{ what: string; retryMs: number } | undefined> {
    const { owned, pods } = this.#deps;
    const { namespace } = tenant.metadata;
    for (const informer of Object.values(owned)) await removeOwned(informer as unknown as Informer<KubeObject>, tenant);
    const left = await pods.list({ namespace, labelSelector: selectorText(tenant) });
    if (left.length === 0) return undefined;
    return { what: `${left.length} ${left.length === 1 ? 'pod' : 'pods'} to end`, retryMs: PODS_RETRY_MS };
  }

  async #letGo(tenant: ObservedTenant, signal: AbortSignal): Promise<{ what: string; retryMs: number } | undefined> {
    for (const claimed of await this.#deps.claims.claimed(tenant)) {
      signal.throwIfAborted();
      this.#deps.migrations.forget(claimed.slug);
      // What is being removed is removed to its end, whatever the policy says by now.
      const remove = tenant.spec.deletionPolicy === 'Delete' || claimed.state === 'deleting';
      const waitsFor = await (remove ? this.#removeData(tenant, claimed, signal) : this.#retain(claimed, signal));
      if (waitsFor) return waitsFor;
    }
    return undefined;
  }

  async #retain({ tenantId, slug, shard: name }: RegisteredTenant, signal: AbortSignal): Promise<undefined> {
    const { shards, redis } = this.#deps;
    const { shard } = await shards.open(name);
    await shard.disableLogin(slug);
    await shard.endSessions(slug);
    signal.throwIfAborted();
    await redis.remove(slug);
    signal.throwIfAborted();
    await (await shards.registry()).retain(tenantId);
  }

  async #removeData(
    tenant: ObservedTenant,
    claimed: RegisteredTenant,
    signal: AbortSignal,
  ): Promise<{ what: string; retryMs: number } | undefined> {
    const { tenantId, slug, shard: name } = claimed;
    const { shards, redis } = this.#deps;
    const registry = await shards.registry();
    await registry.markDeleting(tenantId);
    const waitsFor = (await this.#removeNamed(tenant, claimed)) ?? (await this.#removeBucket(claimed));
    if (waitsFor) return waitsFor;
    signal.throwIfAborted();
    await redis.remove(slug);
    const { shard } = await shards.open(name);
    signal.throwIfAborted();
    const isDropped = await shard.dropTenant(slug, { budgetMs: DATABASE_BUDGET_MS });
    if (!isDropped) return { what: `the large objects of role ${tenantRole(slug)} to be deleted`, retryMs: 0 };
    await registry.remove(tenantId);
    return undefined;
  }

  /** Its objects in storage that it named. A person who cannot open that storage any more sets the policy to Retain, and they stay. */
  async #removeNamed(tenant: ObservedTenant, { tenantId, slug }: RegisteredTenant): Promise<{ what: string; retryMs: number } | undefined> {
    const { shards, connect, events, clock } = this.#deps;
    const sealed = await (await shards.registry()).getSecret(tenantId, 'storage');
    if (sealed === null) return undefined;
    const storage = JSON.parse(sealed) as StorageCredentials;
    // What the platform made goes as a whole.
    if (storage.accessKeyId === bucketName(slug) && storage.bucket === bucketName(slug)) return undefined;
    const place = text(storage);
    const isWanted = tenant.spec.deletionPolicy === 'Delete';
    const removal = isWanted
      ? await removeNamedObjects({ ...openable(storage, connect), marker: storage.marker }, { clock, budgetMs: BUCKET_BUDGET_MS })
      : 'left';
    if (removal === 'more') return { what: `the objects in ${place} to be deleted`, retryMs: 0 };
    if (removal === 'left')
      events.record(tenant, TENANT, {
        type: 'Warning',
        reason: 'ObjectsLeft',
        message: `the objects in ${place} are not deleted: ${isWanted ? `no object ${MARKER_KEY} says that they are this tenant's` : 'the deletion policy is not Delete any more'}`,
      });
    return undefined;
  }

  async #removeBucket({ tenantId, slug }: RegisteredTenant): Promise<{ what: string; retryMs: number } | undefined> {
    const { shards, storage } = this.#deps;
    if (!(await (await shards.registry()).hasBucket(tenantId))) return undefined;
    const bucket = bucketName(slug);
    if (!storage) return { what: `CARREL_S3_ADMIN_ENDPOINT, by which bucket ${bucket} is removed`, retryMs: BUCKET_RETRY_MS };
    const isGone = await storage.removeBucketWithUser({ bucket, accessKeyId: bucket }, { budgetMs: BUCKET_BUDGET_MS });
    return isGone ? undefined : { what: `the objects of bucket ${bucket} to be deleted`, retryMs: 0 };
  }
}

async function removeOwned<T extends KubeObject>({ api, store }: Informer<T>, tenant: ObservedTenant): Promise<void> {
  const theirs = store.list(tenant.metadata.namespace).filter((object) => isControlledBy(object, tenant.metadata) && !isDeleting(object));
  for (const object of theirs) await api.delete(keyOf(object), { uid: object.metadata.uid });
}
