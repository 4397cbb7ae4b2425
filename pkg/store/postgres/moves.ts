import { connectionBudget, ConnectionsExceeded, BASIC_CONNECTIONS } from './connection-budget.ts';
import type { SqlPool } from './pool.ts';

/** How long a move has the tenant to itself without saying so again. */
const LEASE_SECONDS = 30;
/** How often it says so. */
export const RENEW_MS = 10_000;

/** The tenant is not to be moved as it is. The message says why. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused';
}

export interface Move {
  /** Decimal string. */
  readonly tenantId: string;
  readonly from: string;
  readonly to: string;
  /** uuid: who moves it. */
  readonly by: string;
}

/**
 * Begins a move: the tenant is its mover's for 30 s, and for as long as it renews that. `target`: the other shard. Throws
 * MoveRefused, ConnectionsExceeded.
 */
export async function beginMove(registry: SqlPool, move: Move, target: { pool: SqlPool; maxTenants: number }): Promise<void> {
  const budget = await connectionBudget(target.pool);
  await registry.transaction(async (tx) => {
    const { tenantId, from, to, by } = move;
    const [tenant] = await tx.query<{
      slug: string;
      state: string;
      shard: string;
      former: string | null;
      movingTo: string | null;
      isMoving: boolean;
      connections: number | null;
    }>(
      `SELECT slug, state, shard, former_shard AS former, moving_to AS "movingTo", coalesce(moving_until > now(), false) AS "isMoving", connections
       FROM registry.tenants WHERE id = $1 FOR UPDATE`,
      [tenantId],
    );
    if (!tenant) throw new MoveRefused('there is no such tenant any more');
    const { slug, state, shard, former, movingTo, isMoving, connections } = tenant;
    if (state !== 'active')
      throw new MoveRefused(`${slug} has no Tenant: its data are ${state}. Only the data of a Tenant are moved`);
    if (shard !== from) throw new MoveRefused(`${slug} is on shard ${shard}`);
    if (isMoving) throw new MoveRefused(`${slug} is being moved already`);
    if (former !== null)
      throw new MoveRefused(
        `${slug} is not removed from shard ${former} yet, from where it was moved. The operator does that; try again later`,
      );
    if (movingTo !== null && ![to, shard].includes(movingTo))
      throw new MoveRefused(
        `${slug} has a copy on shard ${movingTo}, which a move that did not end has left. The operator removes it once spec.database.shard of its Tenant is ${shard} or left out; try again then`,
      );
    // Moves and claims go one after the other here, so that the bounds of a shard are exact.
    await tx.query('INSERT INTO registry.shards (name) VALUES ($1) ON CONFLICT DO NOTHING', [to]);
    await tx.query('SELECT FROM registry.shards ORDER BY name FOR UPDATE');
    const [taken] = await tx.query<{ tenants: number; connections: number }>(
      `SELECT count(*)::int AS tenants, coalesce(sum(greatest(connections - $2, 0)), 0)::int AS connections FROM registry.tenants
       WHERE shard = $1 OR (moving_to = $1 AND moving_until > now())`,
      [to, BASIC_CONNECTIONS],
    );
    if ((taken?.tenants ?? 0) >= target.maxTenants) throw new MoveRefused(`shard ${to} holds ${target.maxTenants} tenants`);
    const wanted = connections ?? 0;
    if (wanted > BASIC_CONNECTIONS && (taken?.connections ?? 0) + wanted - BASIC_CONNECTIONS > budget)
      throw new ConnectionsExceeded({ shard: to, wanted, budget, taken: taken?.connections ?? 0 });
    await tx.query(
      `UPDATE registry.tenants SET moving_to = $2, moving_by = $3, moving_until = now() + $4 * interval '1 second' WHERE id = $1`,
      [tenantId, to, by, LEASE_SECONDS],
    );
  });
}

const IS_MINE = `id = $1 AND moving_by = $2 AND moving_until > now()`;

/** False: it took too long to say so, and the tenant is not the mover's any more. */
export async function renewMove(registry: SqlPool, { tenantId, by }: Move): Promise<boolean> {
  const renewed = await registry.query(
    `UPDATE registry.tenants SET moving_until = now() + $3 * interval '1 second' WHERE ${IS_MINE} RETURNING id`,
    [tenantId, by, LEASE_SECONDS],
  );
  return renewed.length > 0;
}

/**
 * From now on the tenant is on the other shard. False: it is not the mover's any more, or its Tenant is gone, and nothing
 * changed.
 */
export async function switchShard(registry: SqlPool, { tenantId, by, from, to }: Move): Promise<boolean> {
  const switched = await registry.query(
    `UPDATE registry.tenants SET shard = $4, former_shard = $3, moving_to = NULL, moving_by = NULL, moving_until = NULL
     WHERE ${IS_MINE} AND shard = $3 AND state = 'active' RETURNING id`,
    [tenantId, by, from, to],
  );
  return switched.length > 0;
}

/**
 * The move failed before the switch: the tenant stays on its shard. False: it has switched, or another move has begun.
 * `forgetMove` follows.
 */
export async function giveUpMove(registry: SqlPool, { tenantId, by }: Move): Promise<boolean> {
  const ended = await registry.query(
    'UPDATE registry.tenants SET moving_until = now() WHERE id = $1 AND moving_by = $2 RETURNING id',
    [tenantId, by],
  );
  return ended.length > 0;
}

/** Nothing of a move that was given up is left on the other shard. */
export async function forgetMove(registry: SqlPool, { tenantId, by }: Move): Promise<void> {
  await registry.query(
    'UPDATE registry.tenants SET moving_to = NULL, moving_by = NULL, moving_until = NULL WHERE id = $1 AND moving_by = $2 AND moving_until <= now()',
    [tenantId, by],
  );
}

/** A mover has died before the switch: `removeCopy` removes what it left on the other shard. No other move begins meanwhile. */
export async function endDeadMove(
  registry: SqlPool,
  tenantId: string,
  removeCopy: (shard: string) => Promise<unknown>,
): Promise<void> {
  await registry.transaction(async (tx) => {
    const [dead] = await tx.query<{ to: string }>(
      'SELECT moving_to AS "to" FROM registry.tenants WHERE id = $1 AND moving_until <= now() AND moving_to <> shard FOR UPDATE',
      [tenantId],
    );
    if (dead) await removeCopy(dead.to);
    await tx.query(
      'UPDATE registry.tenants SET moving_to = NULL, moving_by = NULL, moving_until = NULL WHERE id = $1 AND moving_until <= now()',
      [tenantId],
    );
  });
}

/** Nothing of the tenant is left on its former shard. */
export async function endMove(registry: SqlPool, tenantId: string): Promise<void> {
  await registry.query('UPDATE registry.tenants SET former_shard = NULL WHERE id = $1', [tenantId]);
}
