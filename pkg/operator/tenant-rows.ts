import type { Namespace } from '../kube/kinds.ts';
import { isDeleting, keyText } from '../kube/object.ts';
import { findCondition } from '../kube/status.ts';
import type { Store } from '../kube/store.ts';
import { type SealingKey, tenantSealer } from '../runtime/sealing.ts';
import type { Random } from '../runtime/random.ts';
import type { RegisteredTenant } from '../store/postgres/registry.ts';
import type { TenantRows } from '../store/postgres/tenant-schema.ts';
import type { ObservedTenant, Tenant } from './kinds.ts';
import { slugOf } from './names.ts';
import { isOwnedBy } from './namespaces.ts';
import type { Shards } from './shards.ts';
import { ConditionError } from './conditions/runner.ts';

interface Located {
  readonly shard: string;
  /** The generation of the data key that seals. */
  readonly dataKey: number;
}

/** Finds the tenant that a resource of the same namespace refers to. */
export class TenantAccess {
  readonly #tenants: Store<Tenant>;
  readonly #namespaces: Store<Namespace>;
  readonly #shards: Shards;
  readonly #platformKeys: readonly SealingKey[];
  readonly #random: Random;
  /** Only what the registry has confirmed to belong to the resource. */
  readonly #known = new Map<string, Located>();

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

  /** Returns undefined if the Tenant is deleted or is being deleted. */
  find(namespace: string, name: string): ObservedTenant | undefined {
    const tenant = this.#tenants.get({ namespace, name });
    return tenant && !isDeleting(tenant) ? tenant : undefined;
  }

  /** Opens the tenant's schema for writing. Throws ConditionError WaitingForTenant until its schema exists. */
  async open(tenant: ObservedTenant): Promise<TenantRows> {
    const { name } = tenant.metadata;
    const tenantId = tenant.status?.tenantId;
    // Any generation counts: a change of the Tenant does not remove its schema.
    const exists = tenantId !== undefined && findCondition(tenant.status?.conditions ?? [], 'DatabaseReady')?.status === 'True';
    const rows = exists ? await this.#rowsOf(tenant, tenantId) : undefined;
    if (!rows) throw new ConditionError('WaitingForTenant', `Waiting for the schema of Tenant ${name}`, { status: 'Unknown' });
    return rows;
  }

  /** Opens the tenant's schema to remove rows. Returns undefined if the tenant never had a schema. */
  async openToRemove(tenant: ObservedTenant): Promise<TenantRows | undefined> {
    return tenant.status?.tenantId === undefined || tenant.status.schemaVersion === undefined
      ? undefined
      : this.#rowsOf(tenant, tenant.status.tenantId);
  }

  async #rowsOf(tenant: ObservedTenant, tenantId: string): Promise<TenantRows | undefined> {
    const slug = slugOf(tenant);
    const located = await this.#locate(tenant, tenantId);
    if (!located) return undefined;
    const { pool } = await this.#shards.open(located.shard);
    return { tenantId, slug, pool, sealer: tenantSealer(this.#platformKeys, tenantId, this.#random, located.dataKey) };
  }

  /** Records the registry's present answer: tenants may be moved, and their data keys replaced. */
  located(tenant: ObservedTenant, registered: Pick<RegisteredTenant, 'tenantId' | 'shard' | 'credentials'>): void {
    const key = knownBy(tenant, registered.tenantId);
    if (this.#known.has(key)) this.#known.set(key, locatedBy(registered));
  }

  /** Others may write a status: the registry decides who owns a tenant. */
  async #locate(tenant: ObservedTenant, tenantId: string): Promise<Located | undefined> {
    const { namespace, name } = tenant.metadata;
    const key = knownBy(tenant, tenantId);
    const known = this.#known.get(key);
    if (known) return known;
    const registered = await (await this.#shards.registry()).find(slugOf(tenant));
    if (registered?.state !== 'active' || registered.tenantId !== tenantId) return undefined;
    if (!isOwnedBy(this.#namespaces, registered.owner, { namespace, name })) return undefined;
    const located = locatedBy(registered);
    this.#known.set(key, located);
    return located;
  }
}

const locatedBy = ({ shard, credentials }: Pick<RegisteredTenant, 'shard' | 'credentials'>): Located => ({
  shard,
  dataKey: credentials.data?.generation ?? 0,
});

const knownBy = ({ metadata: { namespace, name, uid } }: ObservedTenant, tenantId: string): string =>
  `${keyText({ namespace, name })} ${uid} ${tenantId}`;
