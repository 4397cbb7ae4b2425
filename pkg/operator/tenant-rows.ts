import type { Namespace } from '../kube/kinds.ts';
import { isDeleting, keyText } from '../kube/object.ts';
import { findCondition } from '../kube/status.ts';
import type { Store } from '../kube/store.ts';
import { Sealer, tenantDataKey, type SealingKey } from '../runtime/sealing.ts';
import type { Random } from '../runtime/random.ts';
import type { TenantRows } from '../store/postgres/tenant-schema.ts';
import type { ObservedTenant, Tenant } from './kinds.ts';
import { slugOf } from './names.ts';
import { isOwnedBy } from './namespaces.ts';
import type { OpenShard, Shards } from './shards.ts';
import { ConditionError } from './conditions/runner.ts';

/** Finds the tenant that a resource of the same namespace refers to. */
export class TenantAccess {
  readonly #tenants: Store<Tenant>;
  readonly #namespaces: Store<Namespace>;
  readonly #shards: Shards;
  readonly #platformKeys: readonly SealingKey[];
  readonly #random: Random;
  /** Shards. Only what the registry has confirmed to belong to the resource. */
  readonly #known = new Map<string, string>();

  constructor(deps: {
    tenants: Store<Tenant>;
    namespaces: Store<Namespace>;
    shards: Shards;
    platformKeys: readonly SealingKey[];
    random: Random;
  }) {
    this.#tenants = deps.tenants;
    this.#namespaces = deps.namespaces;
    this.#shards = deps.shards;
    this.#platformKeys = deps.platformKeys;
    this.#random = deps.random;
  }

  /** Throws ConditionError TenantNotFound, TenantDeleting; the watch of Tenants ends both. */
  require(namespace: string, name: string): ObservedTenant {
    const tenant = this.#tenants.get({ namespace, name });
    if (!tenant) throw new ConditionError('TenantNotFound', `there is no Tenant ${name} in namespace ${namespace}`);
    if (isDeleting(tenant)) throw new ConditionError('TenantDeleting', `Tenant ${name} is being deleted`);
    return tenant;
  }

  /** Undefined when it is deleted or being deleted. */
  find(namespace: string, name: string): ObservedTenant | undefined {
    const tenant = this.#tenants.get({ namespace, name });
    return tenant && !isDeleting(tenant) ? tenant : undefined;
  }

  /** Its rows can be written. Throws ConditionError WaitingForTenant until its schema exists. */
  async open(tenant: ObservedTenant): Promise<TenantRows> {
    const { name } = tenant.metadata;
    const tenantId = tenant.status?.tenantId;
    // Of any generation: a change of the Tenant does not remove its schema.
    const exists = tenantId !== undefined && findCondition(tenant.status?.conditions ?? [], 'DatabaseReady')?.status === 'True';
    const rows = exists ? await this.#rowsOf(tenant, tenantId) : undefined;
    if (!rows) throw new ConditionError('WaitingForTenant', `Waiting for the schema of Tenant ${name}`, { status: 'Unknown' });
    return rows;
  }

  /** Undefined when the tenant never had a schema. */
  async openToRemove(tenant: ObservedTenant): Promise<TenantRows | undefined> {
    return tenant.status?.tenantId === undefined || tenant.status.schemaVersion === undefined
      ? undefined
      : this.#rowsOf(tenant, tenant.status.tenantId);
  }

  async #rowsOf(tenant: ObservedTenant, tenantId: string): Promise<TenantRows | undefined> {
    const slug = slugOf(tenant);
    const shard = await this.#shardOf(tenant, tenantId);
    if (!shard) return undefined;
    const keys = this.#platformKeys.map((platform) => tenantDataKey(platform, tenantId));
    return { tenantId, slug, pool: shard.pool, sealer: new Sealer(keys, this.#random) };
  }

  /** Where the registry says that it is now: tenants may be moved. */
  located(tenant: ObservedTenant, { tenantId, shard }: { tenantId: string; shard: string }): void {
    const key = knownBy(tenant, tenantId);
    if (this.#known.has(key)) this.#known.set(key, shard);
  }

  /** Others may write a status: the registry decides who owns a tenant. */
  async #shardOf(tenant: ObservedTenant, tenantId: string): Promise<OpenShard | undefined> {
    const { namespace, name } = tenant.metadata;
    const key = knownBy(tenant, tenantId);
    const known = this.#known.get(key);
    if (known !== undefined) return this.#shards.open(known);
    const registered = await (await this.#shards.registry()).find(slugOf(tenant));
    if (registered?.state !== 'active' || registered.tenantId !== tenantId) return undefined;
    if (!isOwnedBy(this.#namespaces, registered.owner, { namespace, name })) return undefined;
    this.#known.set(key, registered.shard);
    return this.#shards.open(registered.shard);
  }
}

const knownBy = ({ metadata: { namespace, name, uid } }: ObservedTenant, tenantId: string): string =>
  `${keyText({ namespace, name })} ${uid} ${tenantId}`;
