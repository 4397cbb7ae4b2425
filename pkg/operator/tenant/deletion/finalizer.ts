import type { EventRecorder } from '../../../kube/events.ts';
import { removeFinalizer } from '../../../kube/finalizers.ts';
import type { Pod } from '../../../kube/kinds.ts';
import { isDeleting, keyOf, type KubeObject } from '../../../kube/object.ts';
import type { Informer } from '../../../kube/informer.ts';
import type { ResourceApi } from '../../../kube/resource.ts';
import { done, requeueAfter, requeueBehindAfter, type Result } from '../../../kube/result.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { RegisteredTenant } from '../../../store/postgres/registry.ts';
import { disableLogin, dropTenant, endSessions, tenantRole } from '../../../store/postgres/provisioning.ts';
import { bucketName, isBucketKey, type StorageAdmin } from '../../../store/s3/admin.ts';
import type { Connect } from '../../../store/s3/client.ts';
import { MARKER_KEY } from '../../../store/s3/content-key.ts';
import type { OwnedInformers } from '../../informers.ts';
import { TENANT, type ObservedTenant, type Tenant } from '../../kinds.ts';
import { FINALIZER, labels, selectorText, slugOf } from '../../names.ts';
import type { Shards } from '../../shards.ts';
import { failureOf } from '../../conditions/runner.ts';
import type { ConditionWriter } from '../../conditions/writer.ts';
import type { AcceptanceStep } from '../acceptance/acceptance-step.ts';
import type { Rollouts } from '../workload/rollouts.ts';
import type { Migrations } from '../database/migrations.ts';
import { MOVE_RETRY_MS, type Moves } from '../moves/moves.ts';
import { DeleteRefused, ListingEndless, ReplyMalformed } from '../../../store/s3/errors.ts';
import { StoreUnavailableError } from '../../../store/unavailable.ts';
import { unreachableText } from '../storage/storage-location.ts';
import { locationText } from '../storage/storage-migration.ts';
import { type Removal, removeNamedObjects } from '../storage/tenant-named-storage.ts';
import type { TenantRedis } from '../redis/redis-users.ts';
import { type BucketKeys, openable, type StorageCredentials } from '../storage/storage-step.ts';

/** The time in which one pass deletes objects of a bucket; the next pass continues. */
const BUCKET_BUDGET_MS = 20_000;
/** The time in which one pass deletes large objects that the tenant's role owns. */
const DATABASE_BUDGET_MS = 20_000;
const PODS_RETRY_MS = 500;
const BUCKET_RETRY_MS = 60_000;
const UNREACHABLE_RETRY_MS = 10_000;

interface Deps {
  readonly tenants: Informer<Tenant>;
  readonly owned: OwnedInformers;
  readonly pods: ResourceApi<Pod>;
  readonly acceptance: AcceptanceStep;
  readonly shards: Shards;
  readonly storage: StorageAdmin | undefined;
  /** Connects to endpoints that tenants named. */
  readonly connect: Connect;
  readonly redis: TenantRedis;
  readonly migrations: Migrations;
  readonly moves: Moves;
  readonly rollouts: Rollouts;
  readonly conditions: ConditionWriter<Tenant>;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/** The reason why a deletion waits. */
interface Waiting {
  readonly what: string;
  readonly retryMs: number;
  /** The wait may be long, so the next pass is queued behind changed objects. */
  readonly isLasting?: boolean;
}

/** A store that a tenant named may answer anything; none of these errors is a fault of the operator. */
const STORE_FAULTS = [StoreUnavailableError, ReplyMalformed, ListingEndless, DeleteRefused] as const;

/**
 * Removes a Tenant that is being deleted: workloads first, then what they used.
 *
 * Invariants:
 * - Every step is idempotent, and a pass begins with what is left: an operator that was killed continues where it was.
 * - `Retain` removes workloads and access only, and ends the sessions. `Delete` removes the registry's row last, so that the slug
 *   is not given to another tenant while anything of this one is left.
 * - The status says what the deletion waits for.
 * - Once the signal is aborted no further step begins: another operator may lead, and what this one would remove may be a new
 *   tenant of that name.
 */
export class TenantFinalizer {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async finalize(tenant: ObservedTenant, signal: AbortSignal): Promise<Result> {
    const { tenants, conditions } = this.#deps;
    if (!tenant.metadata.finalizers?.includes(FINALIZER)) return done;
    try {
      const waitsFor = (await this.#removeWorkloads(tenant)) ?? (await this.#release(tenant, signal));
      if (waitsFor) {
        await conditions.deleting(tenant, `Waiting for ${waitsFor.what}`);
        return waitsFor.isLasting ? requeueBehindAfter(waitsFor.retryMs) : requeueAfter(waitsFor.retryMs);
      }
    } catch (error) {
      if (signal.aborted) throw error;
      const { message } = failureOf(error);
      await conditions.deleting(tenant, message);
      throw error;
    }
    this.#recordOutcome(tenant);
    await removeFinalizer(tenants.api, tenant, FINALIZER, { store: tenants.store });
    return done;
  }

  /** Records an Event about the fate of the data. A Tenant that was never accepted had none. */
  #recordOutcome(tenant: ObservedTenant): void {
    const tenantId = tenant.status?.tenantId;
    if (tenantId === undefined) return;
    const isRetained = tenant.spec.deletionPolicy === 'Retain';
    this.#deps.events.record(tenant, TENANT, {
      type: 'Normal',
      reason: isRetained ? 'DataRetained' : 'DataDeleted',
      message: isRetained
        ? `the data of tenant ${tenantId} are retained, the objects in ${objectsOf(tenant)}`
        : `the data of tenant ${tenantId} are deleted`,
    });
  }

  /** Deletes the children, then waits until no pod is left. */
  async #removeWorkloads(tenant: ObservedTenant): Promise<Waiting | undefined> {
    const { owned, pods } = this.#deps;
    const { namespace } = tenant.metadata;
    for (const informer of owned.all) await removeOwned(informer, tenant);
    const left = await pods.list({ namespace, labelSelector: selectorText(tenant) });
    if (left.length === 0) return undefined;
    return { what: `${left.length} ${left.length === 1 ? 'pod' : 'pods'} to end`, retryMs: PODS_RETRY_MS };
  }

  async #release(tenant: ObservedTenant, signal: AbortSignal): Promise<Waiting | undefined> {
    for (const registered of await this.#deps.acceptance.registered(tenant)) {
      signal.throwIfAborted();
      this.#deps.migrations.remove(registered.slug);
      this.#deps.rollouts.remove(tenant);
      if (registered.move?.isAlive) return { what: `its move to shard ${registered.move.to} to end`, retryMs: MOVE_RETRY_MS };
      const left = await this.#deps.moves.settle(tenant, registered);
      if (left !== undefined) return { what: `its former shard: ${left}`, retryMs: MOVE_RETRY_MS };
      // Finishes a removal that has begun, even if the policy changed.
      const remove = tenant.spec.deletionPolicy === 'Delete' || registered.state === 'deleting';
      const waitsFor = await (remove ? this.#removeData(tenant, registered, signal) : this.#retain(registered, signal));
      if (waitsFor) return waitsFor;
    }
    return undefined;
  }

  async #retain({ tenantId, slug, shard: name }: RegisteredTenant, signal: AbortSignal): Promise<undefined> {
    const { shards, redis } = this.#deps;
    const shard = await shards.open(name);
    await disableLogin(shard, slug);
    await endSessions(shard, slug);
    signal.throwIfAborted();
    await redis.remove(slug);
    signal.throwIfAborted();
    await (await shards.registry()).retain(tenantId);
  }

  async #removeData(tenant: ObservedTenant, registered: RegisteredTenant, signal: AbortSignal): Promise<Waiting | undefined> {
    const { tenantId, slug, shard: name } = registered;
    const { shards, redis } = this.#deps;
    const registry = await shards.registry();
    await registry.markDeleting(tenantId);
    const waitsFor = (await this.#removeNamed(tenant, registered, signal)) ?? (await this.#removeBucket(registered));
    if (waitsFor) return waitsFor;
    signal.throwIfAborted();
    await redis.remove(slug);
    const shard = await shards.open(name);
    signal.throwIfAborted();
    const isDropped = await dropTenant(shard, slug, { tenantId, budgetMs: DATABASE_BUDGET_MS });
    if (!isDropped) return { what: `the large objects of role ${tenantRole(slug)} to be deleted`, retryMs: 0 };
    await registry.remove(tenantId);
    return undefined;
  }

  /**
   * Removes the objects in storage that the tenant named. Where its key no longer opens that storage, setting the policy to
   * Retain leaves them.
   */
  async #removeNamed(
    tenant: ObservedTenant,
    { tenantId, slug }: RegisteredTenant,
    signal: AbortSignal,
  ): Promise<Waiting | undefined> {
    const { shards, connect, events } = this.#deps;
    const sealed = await (await shards.registry()).getSecret(tenantId, 'storage');
    if (sealed === null) return undefined;
    const storage = JSON.parse(sealed) as StorageCredentials;
    // The platform's buckets are removed as a whole.
    if (isBucketKey(storage.accessKeyId, bucketName(slug)) && storage.bucket === bucketName(slug)) return undefined;
    const location = locationText(storage);
    const isWanted = tenant.spec.deletionPolicy === 'Delete';
    const what = `the objects in ${location} to be deleted`;
    let removal: Removal = 'left';
    try {
      const marked = { ...openable(storage, connect), marker: storage.marker };
      if (isWanted) removal = await removeNamedObjects(marked, { budgetMs: BUCKET_BUDGET_MS, signal });
    } catch (error) {
      if (signal.aborted || !STORE_FAULTS.some((fault) => error instanceof fault)) throw error;
      const why = `${unreachableText(storage, error)}; with deletionPolicy Retain they are left`;
      return { what: `${what}: ${why}`, retryMs: UNREACHABLE_RETRY_MS, isLasting: true };
    }
    if (removal === 'more') return { what, retryMs: 0, isLasting: true };
    if (removal === 'left') {
      const why = isWanted
        ? `no object ${MARKER_KEY} says that they are this tenant's`
        : 'the deletion policy is no longer Delete';
      const message = `the objects in ${location} are not deleted: ${why}`;
      events.record(tenant, TENANT, { type: 'Warning', reason: 'ObjectsLeft', message });
    }
    return undefined;
  }

  async #removeBucket({ tenantId, slug }: RegisteredTenant): Promise<Waiting | undefined> {
    const { shards, storage } = this.#deps;
    const registry = await shards.registry();
    if (!(await registry.hasBucket(tenantId))) return undefined;
    const bucket = bucketName(slug);
    if (!storage) return { what: `CARREL_S3_ADMIN_ENDPOINT, by which bucket ${bucket} is removed`, retryMs: BUCKET_RETRY_MS };
    const keys = JSON.parse(
      (await registry.getSecret(tenantId, 'bucket')) ?? JSON.stringify({ accessKeyId: bucket }),
    ) as BucketKeys;
    const isGone = await storage.removeBucketWithUser({ ...keys, bucket }, { budgetMs: BUCKET_BUDGET_MS });
    return isGone ? undefined : { what: `the objects of bucket ${bucket} to be deleted`, retryMs: 0 };
  }
}

/** Returns the location as the spec names it: the Event must not depend on what else is left. */
const objectsOf = (tenant: ObservedTenant): string => {
  const { credentialsSecretRef, bucket = '', prefix = '' } = tenant.spec.storage;
  return credentialsSecretRef ? `bucket ${bucket}, prefix "${prefix}"` : `bucket ${bucketName(slugOf(tenant))}`;
};

const isLabelled = ({ metadata }: KubeObject, wanted: Record<string, string>): boolean =>
  Object.entries(wanted).every(([key, value]) => metadata?.labels?.[key] === value);

async function removeOwned<T extends KubeObject>({ api, store }: Informer<T>, tenant: ObservedTenant): Promise<void> {
  const { uid, namespace } = tenant.metadata;
  // A deletion with --cascade=orphan takes the owner from the children; nothing of a tenant may serve without it all the same.
  const orphans = store.controlledBy(undefined, namespace).filter((object) => isLabelled(object, labels(tenant)));
  const theirs = [...store.controlledBy(uid, namespace), ...orphans].filter((object) => !isDeleting(object));
  for (const object of theirs) await api.delete(keyOf(object), { uid: object.metadata.uid });
}
