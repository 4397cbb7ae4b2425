import { endDeadMove, endMove } from '../../store/postgres/moves.ts';
import type { SqlPool } from '../../store/postgres/pool.ts';
import { dropTenant } from '../../store/postgres/provisioning.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import type { RegisteredTenant } from '../../store/postgres/registry.ts';
import type { ObservedTenant } from '../kinds.ts';
import type { Shards } from '../shards.ts';
import type { TenantAccess } from '../tenant-rows.ts';

/** While a mover has the tenant (`carrel tenants move`), and for a former shard that does not answer. */
export const MOVE_RETRY_MS = 5_000;

/**
 * The operator's part of a move to another shard: it keeps its hands off while the mover is alive, and puts right what one has left that died.
 * No statement for a tenant that is not being moved.
 */
export class Moves {
  readonly #shards: Shards;
  readonly #access: TenantAccess;

  constructor(deps: { shards: Shards; access: TenantAccess }) {
    this.#shards = deps.shards;
    this.#access = deps.access;
  }

  /** What is left on another shard, in words, where it could not be removed yet. Before the tenant's role is mended, which lets its jobs run. */
  async settle(
    tenant: ObservedTenant,
    registered: Pick<RegisteredTenant, 'tenantId' | 'slug' | 'shard' | 'move' | 'formerShard'>,
  ): Promise<string | undefined> {
    const { tenantId, slug, shard, move, formerShard } = registered;
    this.#access.located(tenant, registered);
    if (move && !move.isAlive)
      await endDeadMove(await this.#registry(), tenantId, async (to) => dropTenant(await this.#shards.open(to), slug));
    if (formerShard === null) return undefined;
    // Whoever takes a shard out of the configuration has given it up.
    if (!this.#shards.names.includes(formerShard)) {
      await endMove(await this.#registry(), tenantId);
      return undefined;
    }
    const { finishMove } = await import('../../tenantdata/finish-move.ts');
    const to = await this.#shards.open(shard);
    try {
      await finishMove({ slug, tenantId, registry: await this.#registry(), from: await this.#shards.open(formerShard), to });
      return undefined;
    } catch (error) {
      // A shard that is lost must not stop a tenant that has left it.
      if (!(error instanceof StoreUnavailableError)) throw error;
      return `what it left on shard ${formerShard} is not removed yet, since that does not answer`;
    }
  }

  async #registry(): Promise<SqlPool> {
    const [first = ''] = this.#shards.names;
    return (await this.#shards.open(first)).pool;
  }
}
