import { type AdoptionRefused, dropAdoptionTokens, useAdoptionToken } from './adoption-token.ts';
import { claimConnections, type ConnectionRequest } from './connection-budget.ts';
import { claimHosts, type OwnHosts } from './hosts.ts';
import { type PlacementRequest, placeTenant } from './placement.ts';
import type { Sql } from './pool.ts';
import type { Owner, RegisteredTenant, TenantState } from './registered-tenant.ts';

export interface ClaimRequest extends PlacementRequest {
  readonly slug: string;
  readonly owner: Owner;
  readonly hosts: readonly string[];
  /** The hosts of `hosts` that belong to this slug alone. */
  readonly own?: OwnHosts;
  /** A token (annotation `carrel.dev/adopt`, newAdoptionToken) that takes over data left by another resource. */
  readonly adopt?: string;
  /** Default: they stay unchanged. */
  readonly connections?: ConnectionRequest;
}

export interface Claim extends RegisteredTenant {
  readonly outcome: 'existing' | 'new' | 'adopted';
}

/** The slug belongs to another resource, or to retained data of one. */
export class SlugTaken extends Error {
  override readonly name = 'SlugTaken';
  readonly slug: string;
  readonly retained: boolean;
  constructor(slug: string, state: TenantState) {
    super(
      state === 'active'
        ? `the slug ${slug} belongs to another tenant`
        : `the slug ${slug} belongs to a deleted tenant whose data are ` +
            (state === 'retained' ? 'retained' : 'still being removed'),
    );
    this.slug = slug;
    this.retained = state === 'retained';
  }
}
/** The tenant requests a different shard than that of its data. */
export class ShardConflict extends Error {
  override readonly name = 'ShardConflict';
}

/** A tenant with its hosts; `t` is the row. */
export const TENANT = `SELECT t.id::text AS "tenantId", t.slug, t.shard, t.state, t.adopting AS "isAdopting", t.connections,
    to_json(t.state_changed_at) AS since,
    t.former_shard AS "formerShard",
    CASE WHEN t.moving_to IS NOT NULL THEN json_build_object('to', t.moving_to, 'isAlive', t.moving_until > now()) END AS move,
    (SELECT i.rollouts_paused_at IS NOT NULL FROM registry.installation i) AS "areRolloutsPaused",
    json_build_object('namespace', t.namespace, 'namespaceUid', t.namespace_uid, 'name', t.name) AS owner,
    coalesce((SELECT json_agg(h.host ORDER BY h.host) FROM registry.hosts h
      WHERE h.tenant_id = t.id AND h.left_at IS NULL), '[]') AS hosts,
    coalesce((SELECT json_object_agg(c.name, json_build_object(
        'changedAt', c.changed_at, 'step', c.step, 'stepAt', c.step_at, 'generation', c.generation))
      FROM registry.credentials c WHERE c.tenant_id = t.id), '{}') AS credentials
  FROM registry.tenants t`;

export const isOwner = (tenant: RegisteredTenant, owner: Owner): boolean =>
  tenant.owner.namespaceUid === owner.namespaceUid && tenant.owner.name === owner.name;

const sameHosts = (have: readonly string[], want: readonly string[]): boolean => {
  const wanted = new Set(want);
  return have.length === wanted.size && have.every((host) => wanted.has(host));
};

/** Returns true if nothing needs to be written: the tenant belongs to this resource and has everything that it requests. */
export const holdsAlready = (tenant: RegisteredTenant, { owner, hosts, connections }: ClaimRequest): boolean =>
  tenant.state === 'active' &&
  isOwner(tenant, owner) &&
  sameHosts(tenant.hosts, hosts) &&
  (connections === undefined || (tenant.connections !== null && connections.wanted <= tenant.connections));

export function checkShard(tenant: RegisteredTenant, request: ClaimRequest): void {
  if (request.shard !== undefined && request.shard !== tenant.shard)
    throw new ShardConflict(
      `the tenant's data lie on shard ${tenant.shard}. Whoever runs the operator moves them ` +
        `(carrel tenants move ${tenant.slug} --to ${request.shard}); until then set spec.database.shard back`,
    );
}

/**
 * Makes the claim, in one transaction. `isNew`: nobody had the slug a moment ago. `budgets` by shard, as far as they are known.
 * Throws BudgetUnknown. A wrong adoption token is returned, not thrown, so that the attempt is committed.
 */
export async function claimIn(
  tx: Sql,
  request: ClaimRequest & { readonly isNew: boolean },
  budgets: ReadonlyMap<string, number>,
): Promise<Claim | AdoptionRefused> {
  let outcome: Claim['outcome'] = 'existing';
  let tenant = request.isNew ? undefined : await lockTenant(tx, request.slug);
  if (!tenant) {
    const shard = await placeTenant(tx, request);
    const { namespace, namespaceUid, name } = request.owner;
    const made = await tx.query(
      `INSERT INTO registry.tenants (slug, namespace, namespace_uid, name, shard, connections)
       VALUES ($1, $2, $3, $4, $5, 0) ON CONFLICT (slug) DO NOTHING RETURNING id`,
      [request.slug, namespace, namespaceUid, name, shard],
    );
    tenant = await lockTenant(tx, request.slug);
    if (made.length > 0) outcome = 'new';
  }
  if (!tenant) throw new SlugTaken(request.slug, 'deleting');
  if (outcome !== 'new' && tenant.state === 'deleting') throw new SlugTaken(request.slug, tenant.state);
  if (outcome !== 'new' && (tenant.state === 'retained' || !isOwner(tenant, request.owner))) {
    if (tenant.state !== 'retained') throw new SlugTaken(request.slug, tenant.state);
    if (!isOwner(tenant, request.owner)) {
      if (request.adopt === undefined) throw new SlugTaken(request.slug, tenant.state);
      const refused = await useAdoptionToken(tx, tenant, request.owner, request.adopt);
      if (refused) return refused;
    }
    outcome = 'adopted';
    await adopt(tx, tenant, request.owner);
  }
  checkShard(tenant, request);
  await claimHosts(tx, tenant.tenantId, request.hosts, request.own);
  const isAdopting = tenant.isAdopting || outcome === 'adopted';
  const connections = request.connections
    ? await claimConnections(tx, tenant, request.connections.wanted, budgets)
    : tenant.connections;
  return {
    ...tenant,
    state: 'active',
    isAdopting,
    connections,
    owner: request.owner,
    hosts: [...new Set(request.hosts)].sort(),
    outcome,
  };
}

async function lockTenant(tx: Sql, slug: string): Promise<RegisteredTenant | undefined> {
  const [tenant] = await tx.query<RegisteredTenant>(`${TENANT} WHERE t.slug = $1 FOR UPDATE OF t`, [slug]);
  return tenant;
}

/**
 * Another owner gets new passwords and signing keys: the former one may have copies of the old ones. The data key stays, since it
 * opens the existing data.
 */
async function adopt(tx: Sql, tenant: RegisteredTenant, owner: Owner): Promise<void> {
  await tx.query(
    `UPDATE registry.tenants
        SET state = 'active', state_changed_at = now(), adopting = true, namespace = $2, namespace_uid = $3, name = $4
      WHERE id = $1`,
    [tenant.tenantId, owner.namespace, owner.namespaceUid, owner.name],
  );
  await dropAdoptionTokens(tx, tenant.tenantId);
  if (isOwner(tenant, owner)) return;
  await tx.query('DELETE FROM registry.secrets WHERE tenant_id = $1', [tenant.tenantId]);
  await tx.query(`DELETE FROM registry.credentials WHERE tenant_id = $1 AND name <> 'data'`, [tenant.tenantId]);
}
