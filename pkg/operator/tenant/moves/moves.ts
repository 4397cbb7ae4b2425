import { endDeadMove, endMove } from '../../../store/postgres/moves.ts';
import type { SqlPool } from '../../../store/postgres/pool.ts';
import { dropTenant, READ_ONLY_SETTING, tenantRole } from '../../../store/postgres/provisioning.ts';
import { StoreUnavailableError } from '../../../store/unavailable.ts';
import type { RegisteredTenant } from '../../../store/postgres/registry.ts';
import { keyOf, type ObjectKey } from '../../../kube/object.ts';
import type { Store } from '../../../kube/store.ts';
import type { ObservedTenant, Tenant } from '../../kinds.ts';
import { slugOf } from '../../names.ts';
import type { ShardChanges } from '../../shard-changes.ts';
import type { Shards } from '../../shards.ts';
import type { TenantAccess } from '../../tenant-rows.ts';

/** Returns a text that is the same on each try. */
const reasonOf = (error: unknown): string => {
  if (error instanceof StoreUnavailableError) return 'it does not answer';
  return error instanceof Error ? error.message : String(error);
};

interface ReadOnlyRole {
  readonly tenant: string;
}

/**
 * Reconciles tenants that are read-only, or whose rows remain on a former shard, so that no tenant stays so when a mover has
 * died. While their mover is alive, nothing changes.
 */
export const movingTenants = ({
  tenants,
  enqueue,
}: {
  tenants: Store<Tenant>;
  enqueue: (key: ObjectKey) => void;
}): ShardChanges<ReadOnlyRole> => ({
  isWanted: () => tenants.size > 0,
  select: `
    SELECT t.role AS tenant FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
    JOIN carrel.tenants t ON t.role = r.rolname
    WHERE s.setdatabase = 0 AND '${READ_ONLY_SETTING}=on' = ANY (s.setconfig)`,
  async onChange(_pool, rows) {
    const roles = new Set(rows.map(({ tenant }) => tenant));
    for (const tenant of tenants.list()) if (roles.has(tenantRole(slugOf(tenant)))) enqueue(keyOf(tenant));
  },
});

/** The wait while a mover works on the tenant (`carrel tenants move`), and for a former shard that does not answer. */
export const MOVE_RETRY_MS = 5_000;

/**
 * The operator's part of a move to another shard. It changes nothing while the mover is alive, and cleans up after a mover that
 * died. Runs no statement for a tenant that is not being moved.
 */
export class Moves {
  readonly #shards: Shards;
  readonly #access: TenantAccess;

  constructor(deps: { shards: Shards; access: TenantAccess }) {
    this.#shards = deps.shards;
    this.#access = deps.access;
  }

  /**
   * Removes what a move left on another shard. Returns a text that names what could not be removed yet. Runs before the tenant's
   * role is repaired, which lets its jobs run.
   */
  async settle(
    tenant: ObservedTenant,
    registered: Pick<RegisteredTenant, 'tenantId' | 'slug' | 'shard' | 'move' | 'formerShard' | 'credentials'>,
  ): Promise<string | undefined> {
    const { tenantId, slug, shard, move, formerShard } = registered;
    this.#access.located(tenant, registered);
    const copyLeft = move && !move.isAlive ? await this.#endDead(tenantId, slug, move.to) : undefined;
    if (formerShard === null) return copyLeft;
    // A shard that was removed from the configuration is given up.
    if (!this.#shards.names.includes(formerShard)) {
      await endMove(await this.#registry(), tenantId);
      return copyLeft;
    }
    const { finishMove, RowsMissing } = await import('../../../tenantdata/finish-move.ts');
    const to = await this.#shards.open(shard);
    try {
      await finishMove({ slug, tenantId, registry: await this.#registry(), from: await this.#shards.open(formerShard), to });
      return copyLeft;
    } catch (error) {
      // The tenant has left that shard: a fault there must not stop it.
      if (error instanceof RowsMissing) throw error;
      return `what it left on shard ${formerShard} is not removed yet: ${reasonOf(error)}`;
    }
  }

  /**
   * Removes what a dead mover made on the other shard. Returns a text if it could not; the tenant then continues on its present
   * shard.
   */
  async #endDead(tenantId: string, slug: string, to: string): Promise<string | undefined> {
    // As above, a shard that the configuration no longer has is given up.
    const removeCopy = async (): Promise<unknown> =>
      this.#shards.names.includes(to) && dropTenant(await this.#shards.open(to), slug, { tenantId, attempts: 1 });
    try {
      await endDeadMove(await this.#registry(), tenantId, removeCopy);
      return undefined;
    } catch (error) {
      return `the copy that a move has left on shard ${to} is not removed yet: ${reasonOf(error)}`;
    }
  }

  async #registry(): Promise<SqlPool> {
    const [first = ''] = this.#shards.names;
    return (await this.#shards.open(first)).pool;
  }
}
