import { StoreUnavailableError } from '../unavailable.ts';
import type { Sql } from './pool.ts';

/**
 * What a tenant of default size may hold: a pool of 5 in one pod and in the one that replaces it, and 2 to spare. Every tenant has these without
 * being counted: pools hold no connection while idle, so a thousand tenants share what a shard has, and each one's limit is small.
 */
export const BASIC_CONNECTIONS = 12;

/**
 * What operator and worker need where the server reserves less for them (`reserved_connections`): 8 of the operator, 24 of a worker, and as many
 * as meet while one follows another.
 */
export const PLATFORM_CONNECTIONS = 40;

/** A tenant asks for more connections than are left beside the basic ones. */
export class ConnectionsExceeded extends Error {
  override readonly name = 'ConnectionsExceeded';
  constructor({ shard, wanted, budget, taken }: { shard: string; wanted: number; budget: number; taken: number }) {
    const left = Math.max(budget - taken, 0);
    super(
      `${wanted} connections are ${wanted - BASIC_CONNECTIONS} more than the ${BASIC_CONNECTIONS} of a tenant of default size; shard ${shard} has ${budget} of these for all tenants together, and ${left} are left`,
    );
  }
}

/** Connections beyond the basic ones that a shard has for all its tenants together: half of what is not the platform's, so that the other half is everybody's. */
export async function connectionBudget(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ most: number; superusers: number; reserved: number }>(
    `SELECT current_setting('max_connections')::int AS most, current_setting('superuser_reserved_connections')::int AS superusers,
       coalesce(current_setting('reserved_connections', true), '0')::int AS reserved`,
  );
  if (!row) return 0;
  return Math.max(Math.floor((row.most - row.superusers - Math.max(row.reserved, PLATFORM_CONNECTIONS)) / 2), 0);
}

/** What a claim asks for; `budgets` by shard, those that answered. */
export interface ConnectionRequest {
  readonly wanted: number;
  readonly budgets: ReadonlyMap<string, number>;
}

/**
 * Inside the claim's transaction, under the lock on the tenant's row. Gives what is counted: a smaller number counts once the role has it
 * (Registry.lowerConnections). A claim that asks for no more than before is never refused. Throws ConnectionsExceeded.
 */
export async function claimConnections(
  tx: Sql,
  tenant: { readonly tenantId: string; readonly shard: string; readonly connections: number },
  { wanted, budgets }: ConnectionRequest,
): Promise<number> {
  const { tenantId, shard } = tenant;
  if (wanted <= tenant.connections) return tenant.connections;
  if (wanted > BASIC_CONNECTIONS) {
    const budget = budgets.get(shard);
    if (budget === undefined) throw new StoreUnavailableError('postgres', new Error(`shard ${shard} does not answer`));
    // Those who ask for more take turns, so that the sum is exact.
    await tx.query('SELECT FROM registry.shards WHERE name = $1 FOR UPDATE', [shard]);
    const [row] = await tx.query<{ taken: number }>(
      'SELECT coalesce(sum(connections - $3), 0) AS taken FROM registry.tenants WHERE shard = $1 AND id <> $2 AND connections > $3',
      [shard, tenantId, BASIC_CONNECTIONS],
    );
    const taken = row?.taken ?? 0;
    if (taken + wanted - BASIC_CONNECTIONS > budget) throw new ConnectionsExceeded({ shard, wanted, budget, taken });
  }
  await tx.query('UPDATE registry.tenants SET connections = $2 WHERE id = $1', [tenantId, wanted]);
  return wanted;
}
