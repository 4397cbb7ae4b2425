import type { TenantState } from './registered-tenant.ts';
import type { Sql } from './pool.ts';

/** Hosts that belong to the claiming slug: a tenant that holds one of them loses it. */
export interface OwnHosts {
  readonly hosts: readonly string[];
  /** Ends the sessions of a tenant before one of its hosts passes to another. */
  endSessions(holder: { readonly slug: string; readonly shard: string }): Promise<unknown>;
}

/** The reason why a host is not free. */
type Holding = TenantState | 'left';

const WHY: Readonly<Record<Holding, string>> = {
  active: 'belongs to another tenant',
  retained: 'belongs to a deleted tenant whose data are retained; it is free once they are adopted or deleted',
  deleting: 'belongs to a deleted tenant whose data are still being removed',
  left: 'was left by another tenant; it is free 91 days after that, or once the data of that tenant are deleted',
};

export class HostTaken extends Error {
  override readonly name = 'HostTaken';
  readonly host: string;
  constructor(host: string, holding: Holding) {
    super(`the host ${host} ${WHY[holding]}`);
    this.host = host;
  }
}
/** The tenant has reached the limit of recently left hosts. */
export class HostsExceeded extends Error {
  override readonly name = 'HostsExceeded';
}

/**
 * Browsers continue to send the cookies of sessions, which end 90 days after their sign-in; servers may answer there for some
 * hours longer.
 */
const KEPT = '91 days';
/** The most left hosts of one tenant: frequent changes of hosts reserve no more than these. */
export const MAX_LEFT_HOSTS = 20;

/**
 * Gives the tenant these hosts and no others; hosts that it left stay reserved for it (KEPT). Throws HostTaken, HostsExceeded.
 */
export async function claimHosts(tx: Sql, tenantId: string, hosts: readonly string[], own?: OwnHosts): Promise<void> {
  const wanted = [...new Set(hosts)].sort();
  if (own) await takeBack(tx, tenantId, own);
  await tx.query(
    `DELETE FROM registry.hosts WHERE left_at < now() - interval '${KEPT}' AND (tenant_id = $1 OR host = ANY ($2))`,
    [tenantId, wanted],
  );
  const left = await tx.query(
    'UPDATE registry.hosts SET left_at = now() WHERE tenant_id = $1 AND NOT host = ANY ($2) AND left_at IS NULL RETURNING host',
    [tenantId, wanted],
  );
  await tx.query('UPDATE registry.hosts SET left_at = NULL WHERE tenant_id = $1 AND host = ANY ($2) AND left_at IS NOT NULL', [
    tenantId,
    wanted,
  ]);
  await tx.query('INSERT INTO registry.hosts (host, tenant_id) SELECT unnest($2::text[]), $1 ON CONFLICT DO NOTHING', [
    tenantId,
    wanted,
  ]);
  const [other] = await tx.query<{ host: string; holding: Holding }>(
    `SELECT h.host, CASE WHEN h.left_at IS NULL OR t.state <> 'active' THEN t.state ELSE 'left' END AS holding
     FROM registry.hosts h JOIN registry.tenants t ON t.id = h.tenant_id
     WHERE h.host = ANY ($2) AND t.id <> $1 ORDER BY h.host LIMIT 1`,
    [tenantId, wanted],
  );
  if (other) throw new HostTaken(other.host, other.holding);
  if (left.length > 0) await boundLeft(tx, tenantId);
}

async function takeBack(tx: Sql, tenantId: string, { hosts, endSessions }: OwnHosts): Promise<void> {
  const holders = await tx.query<{ slug: string; shard: string; state: TenantState }>(
    `WITH taken AS (DELETE FROM registry.hosts WHERE host = ANY ($2) AND tenant_id <> $1 RETURNING tenant_id)
     SELECT DISTINCT t.slug, t.shard, t.state FROM registry.tenants t JOIN taken ON taken.tenant_id = t.id`,
    [tenantId, [...hosts]],
  );
  // Sessions in other states ended when the resource was deleted.
  for (const holder of holders) if (holder.state === 'active') await endSessions(holder);
}

async function boundLeft(tx: Sql, tenantId: string): Promise<void> {
  const [row] = await tx.query<{ left: number }>(
    'SELECT count(*) AS left FROM registry.hosts WHERE tenant_id = $1 AND left_at IS NOT NULL',
    [tenantId],
  );
  if ((row?.left ?? 0) > MAX_LEFT_HOSTS)
    throw new HostsExceeded(
      `a host that a tenant leaves is reserved for it for 91 days, and a tenant may have at most ${MAX_LEFT_HOSTS} such hosts; ` +
        'use one of them again',
    );
}
