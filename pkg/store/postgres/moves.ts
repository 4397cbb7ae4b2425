import { connectionBudget, ConnectionsExceeded, BASIC_CONNECTIONS } from './connection-budget.ts';
import type { SqlPool } from './pool.ts';

/** The time for which a move holds the tenant without a renewal. */
const LEASE_SECONDS = 30;
/** The interval of renewals. */
export const RENEW_MS = 10_000;

/** The tenant cannot be moved in its current state. The message says why. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused';
}

export interface Move {
  /** Decimal string. */
  readonly tenantId: string;
  readonly from: string;
  readonly to: string;
  /** A uuid that identifies the mover. */
  readonly by: string;
}

/**
 * Begins a move: it holds the tenant for 30 s, and longer if it renews that. `target` is the other shard. Throws MoveRefused,
 * ConnectionsExceeded.
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
      `SELECT slug, state, shard, former_shard AS former, moving_to AS "movingTo",
              coalesce(moving_until > now(), false) AS "isMoving", connections
       FROM registry.tenants WHERE id = $1 FOR UPDATE`,
      [tenantId],
    );
    if (!tenant) throw new MoveRefused('the tenant no longer exists');
    const { slug, state, shard, former, movingTo, isMoving, connections } = tenant;
    if (state !== 'active')
      throw new MoveRefused(`${slug} has no Tenant: its data are ${state}. Only the data of a Tenant are moved`);
    if (shard !== from) throw new MoveRefused(`${slug} is on shard ${shard}`);
    if (isMoving) throw new MoveRefused(`${slug} is already being moved`);
    if (former !== null)
      throw new MoveRefused(
        `${slug} was moved from shard ${former}, and its data there are not removed yet. The operator removes them; try later`,
      );
    if (movingTo !== null && ![to, shard].includes(movingTo))
      throw new MoveRefused(
        `an unfinished move left a copy of ${slug} on shard ${movingTo}. The operator removes it once ` +
          `spec.database.shard of its Tenant is ${shard} or left out; then try again`,
      );
    // Moves and claims run one after the other here, so that the limits of a shard are exact.
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

/** Returns false if the renewal came too late, and the move no longer holds the tenant. */
export async function renewMove(registry: SqlPool, { tenantId, by }: Move): Promise<boolean> {
  const renewed = await registry.query(
    `UPDATE registry.tenants SET moving_until = now() + $3 * interval '1 second' WHERE ${IS_MINE} RETURNING id`,
    [tenantId, by, LEASE_SECONDS],
  );
  return renewed.length > 0;
}

/**
 * Switches the tenant to the other shard. Returns false, and changes nothing, if the move no longer holds the tenant or its
 * Tenant was deleted.
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
 * Ends a move that failed before the switch: the tenant stays on its shard. Returns false if it has switched, or another move has
 * begun. Call `forgetMove` afterwards.
 */
export async function giveUpMove(registry: SqlPool, { tenantId, by }: Move): Promise<boolean> {
  const ended = await registry.query(
    'UPDATE registry.tenants SET moving_until = now() WHERE id = $1 AND moving_by = $2 RETURNING id',
    [tenantId, by],
  );
  return ended.length > 0;
}

/** Records that nothing of an abandoned move is left on the other shard. */
export async function forgetMove(registry: SqlPool, { tenantId, by }: Move): Promise<void> {
  await registry.query(
    `UPDATE registry.tenants SET moving_to = NULL, moving_by = NULL, moving_until = NULL
     WHERE id = $1 AND moving_by = $2 AND moving_until <= now()`,
    [tenantId, by],
  );
}

/**
 * Cleans up after a mover that died before the switch: `removeCopy` removes its data on the other shard. No other move begins
 * meanwhile.
 */
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
      `UPDATE registry.tenants SET moving_to = NULL, moving_by = NULL, moving_until = NULL
       WHERE id = $1 AND moving_until <= now()`,
      [tenantId],
    );
  });
}

/** Records that nothing of the tenant is left on its former shard. */
export async function endMove(registry: SqlPool, tenantId: string): Promise<void> {
  await registry.query('UPDATE registry.tenants SET former_shard = NULL WHERE id = $1', [tenantId]);
}
