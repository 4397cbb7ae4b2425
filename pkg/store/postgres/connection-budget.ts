import type { Sql } from './pool.ts';

/**
 * The connections of a tenant of default size: a pool of 5 in one pod and in its replacement, and 2 spare. Every tenant has these
 * without being counted: pools hold no connection while idle, so a thousand tenants share a shard's connections, and each one's
 * limit is small.
 */
export const BASIC_CONNECTIONS = 12;

/**
 * The connections that operator and workers need if the server reserves fewer for them (`reserved_connections`): 24 for each of
 * two workers and for the extra one of a rollout, 9 for the leading operator, and 9 for one that it succeeds or for commands and
 * backups. A standby operator holds none.
 */
export const PLATFORM_CONNECTIONS = 90;

/** A tenant asks for more connections than are left beside the basic ones. */
export class ConnectionsExceeded extends Error {
  override readonly name = 'ConnectionsExceeded';
  constructor({ shard, wanted, budget, taken }: { shard: string; wanted: number; budget: number; taken: number }) {
    const left = Math.max(budget - taken, 0);
    super(
      `${wanted} connections are ${wanted - BASIC_CONNECTIONS} more than the ${BASIC_CONNECTIONS} of a tenant of default ` +
        `size; shard ${shard} has ${budget} of these for all tenants together, and ${left} are left`,
    );
  }
}

/**
 * Returns the connections beyond the basic ones that a shard has for all its tenants together: half of those that are not the
 * platform's, so that all tenants share the other half.
 */
export async function connectionBudget(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ most: number; superusers: number; reserved: number }>(
    `SELECT current_setting('max_connections')::int AS most, current_setting('superuser_reserved_connections')::int AS superusers,
       coalesce(current_setting('reserved_connections', true), '0')::int AS reserved`,
  );
  if (!row) return 0;
  return Math.max(Math.floor((row.most - row.superusers - Math.max(row.reserved, PLATFORM_CONNECTIONS)) / 2), 0);
}

/** Statements on a shard. Both throw StoreUnavailableError. */
export interface ShardConnections {
  /** Returns the connections beyond the basic ones that the shard has for its tenants. */
  budgetOf(shard: string): Promise<number>;
  /** Limits the connections of the tenants' roles to `most`, and returns the current limit of each by tenant id. */
  limitsOf(shard: string): Promise<ReadonlyMap<string, number>>;
  /** The most connections of one tenant. */
  readonly most: number;
}

/** The connection request of a claim. */
export interface ConnectionRequest extends ShardConnections {
  readonly wanted: number;
}

/** The budget must be queried first: the claim's transaction holds locks, and the shard may not answer. */
export class BudgetUnknown extends Error {
  override readonly name = 'BudgetUnknown';
  readonly shard: string;
  constructor(shard: string) {
    super(`the budget of shard ${shard} is not known yet`);
    this.shard = shard;
  }
}

/**
 * Runs inside the claim's transaction, under the lock on the tenant's row. Returns the counted connections: a smaller number
 * counts only once the role has it (Registry.lowerConnections). A claim that asks for no more than before is never refused.
 * Throws ConnectionsExceeded, BudgetUnknown.
 */
export async function claimConnections(
  tx: Sql,
  tenant: { readonly tenantId: string; readonly shard: string; readonly connections: number | null },
  wanted: number,
  budgets: ReadonlyMap<string, number>,
): Promise<number> {
  const { tenantId, shard } = tenant;
  const counted = tenant.connections ?? 0;
  if (wanted <= counted && tenant.connections !== null) return counted;
  if (wanted > BASIC_CONNECTIONS && wanted > counted) {
    const budget = budgets.get(shard);
    if (budget === undefined) throw new BudgetUnknown(shard);
    // Requests for more are serialized, so that the sum is exact.
    await tx.query('SELECT FROM registry.shards WHERE name = $1 FOR UPDATE', [shard]);
    const [row] = await tx.query<{ taken: number }>(
      `SELECT coalesce(sum(connections - $3), 0) AS taken FROM registry.tenants
       WHERE shard = $1 AND id <> $2 AND connections > $3`,
      [shard, tenantId, BASIC_CONNECTIONS],
    );
    const taken = row?.taken ?? 0;
    if (taken + wanted - BASIC_CONNECTIONS > budget) throw new ConnectionsExceeded({ shard, wanted, budget, taken });
  }
  await tx.query('UPDATE registry.tenants SET connections = $2 WHERE id = $1', [tenantId, wanted]);
  return wanted;
}

/**
 * Counts the limits of a shard's roles from now on, if they were not counted: such tenants are older than the count and keep
 * their limits without asking.
 */
export async function takeOverLimits(sql: Sql, shard: string, limitsOf: ShardConnections['limitsOf']): Promise<void> {
  const unknown = await sql.query('SELECT FROM registry.tenants WHERE shard = $1 AND connections IS NULL LIMIT 1', [shard]);
  if (unknown.length === 0) return;
  const limits = [...(await limitsOf(shard))];
  await sql.query(
    `UPDATE registry.tenants t SET connections = coalesce(
       (SELECT l.most FROM unnest($2::bigint[], $3::int[]) AS l (id, most) WHERE l.id = t.id), 0)
     WHERE t.shard = $1 AND t.connections IS NULL`,
    [shard, limits.map(([id]) => id), limits.map(([, most]) => most)],
  );
}
