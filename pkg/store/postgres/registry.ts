import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Sealer } from '../../runtime/sealing.ts';
import { AdoptionRefused, dropAdoptionTokens, refusedBefore } from './adoption-token.ts';
import { checkShard, type Claim, claimIn, type ClaimRequest, holdsAlready, isOwner, TENANT } from './claim.ts';
import { BudgetUnknown, type ShardConnections, takeOverLimits } from './connection-budget.ts';
import { candidateShards } from './placement.ts';
import type { Sql, Transactions } from './pool.ts';
import { ensureRegistrySchema } from './provisioning/registry.ts';
import { RegistrySecrets, type RotationStep } from './registry-secrets.ts';
import { isShared, type KnownLocation, recordLocations, type StorageLocation, takeLocation } from './storage-locations.ts';
import type { CredentialName, Owner, RegisteredTenant, TenantState } from './registered-tenant.ts';
import { once } from '../../runtime/once.ts';

export { AdoptionRefused } from './adoption-token.ts';
export { BASIC_CONNECTIONS, connectionBudget, ConnectionsExceeded, type ShardConnections } from './connection-budget.ts';
export { type Claim, type ClaimRequest, ShardConflict, SlugTaken } from './claim.ts';
export { MAX_TENANTS_PER_SHARD, NoShard } from './placement.ts';
export { HostsExceeded, HostTaken, MAX_LEFT_HOSTS } from './hosts.ts';
export {
  type CredentialName,
  CREDENTIALS,
  type CredentialState,
  type Owner,
  type RegisteredTenant,
  type TenantState,
} from './registered-tenant.ts';

/** Returns true if the registry of an installation is in this database. */
export async function hasRegistry(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ isThere: boolean }>(`SELECT to_regclass('registry.tenants') IS NOT NULL AS "isThere"`);
  return row?.isThere === true;
}

/**
 * The registry of all tenants, in the first shard: slugs, ids, hosts, owners, and sealed copies of generated secrets.
 *
 * Invariants:
 * - The first insert wins: a slug and a host belong to one tenant, however many claim them at once (unique constraints decide).
 * - Confirming a claim is one statement that writes nothing. With a token that was wrong before, it is two, which take no lock.
 * - A secret is generated once: later callers get the stored one.
 */
export class Registry {
  readonly #pool: Transactions;
  readonly #secrets: RegistrySecrets;
  readonly #time: { clock: Clock; random: Random };
  readonly #installation = once(async () => {
    const [row] = await this.#pool.query<{ id: string }>('SELECT id::text AS id FROM registry.installation');
    return row?.id ?? '';
  });
  readonly #takingOver = new Map<string, Promise<void>>();

  constructor(deps: { pool: Transactions; sealer: Sealer; clock: Clock; random: Random }) {
    this.#pool = deps.pool;
    this.#secrets = new RegistrySecrets(deps);
    this.#time = { clock: deps.clock, random: deps.random };
  }

  /** Creates or migrates the schema. Call it after ensureShard, to whose roles it grants rights. */
  async ensureSchema(): Promise<void> {
    await ensureRegistrySchema({ pool: this.#pool, ...this.#time });
  }

  /**
   * Claims slug and hosts for a resource, or confirms the claim. Retained data of a deleted resource are adopted by a resource of
   * the same namespace (by uid) and name, or by one with an adoption token. Throws SlugTaken, AdoptionRefused, HostTaken,
   * HostsExceeded, NoShard, ShardConflict, ConnectionsExceeded.
   */
  async claim(request: ClaimRequest): Promise<Claim> {
    const { connections } = request;
    const known = await this.#counted(await this.find(request.slug), request.owner, connections);
    if (known && holdsAlready(known, request)) {
      checkShard(known, request);
      return { ...known, outcome: 'existing' };
    }
    const { adopt, owner } = request;
    if (known?.state === 'retained' && adopt !== undefined && !isOwner(known, owner)) {
      const refused = await refusedBefore(this.#pool, known, owner, adopt);
      if (refused) throw refused;
    }
    const shards = known ? request.shards : await candidateShards(request);
    const wanted = { ...request, isNew: known === null, shards };
    const budgets = new Map<string, number>();
    for (;;) {
      try {
        const claim = await this.#pool.transaction((tx) => claimIn(tx, wanted, budgets));
        if (claim instanceof AdoptionRefused) throw claim;
        return claim;
      } catch (error) {
        if (!(error instanceof BudgetUnknown) || !connections) throw error;
        await this.#takeOver(error.shard, connections);
        budgets.set(error.shard, await connections.budgetOf(error.shard));
      }
    }
  }

  /** Limits the connections of a refused resource to the most that one tenant may have; the rest of it stays unchanged. */
  async boundConnections(slug: string, owner: Owner, shards: ShardConnections): Promise<void> {
    const known = await this.#counted(await this.find(slug), owner, shards);
    if (known?.state !== 'active' || !isOwner(known, owner) || known.connections === null || known.connections <= shards.most)
      return;
    await shards.limitsOf(known.shard);
    await this.lowerConnections(known.tenantId, { from: known.connections, to: shards.most });
  }

  /** Returns the tenant, with the number of connections that its role may hold. */
  async #counted(
    known: RegisteredTenant | null,
    owner: Owner,
    shards: ShardConnections | undefined,
  ): Promise<RegisteredTenant | null> {
    if (!shards || known?.state !== 'active' || known.connections !== null || !isOwner(known, owner)) return known;
    await this.#takeOver(known.shard, shards);
    return this.find(known.slug);
  }

  /** Shares one call among all concurrent callers. */
  #takeOver(shard: string, { limitsOf }: ShardConnections): Promise<void> {
    const running = this.#takingOver.get(shard);
    if (running) return running;
    const started = takeOverLimits(this.#pool, shard, limitsOf).finally(() => this.#takingOver.delete(shard));
    this.#takingOver.set(shard, started);
    return started;
  }

  async find(slug: string): Promise<RegisteredTenant | null> {
    const [tenant] = await this.#pool.query<RegisteredTenant>(`${TENANT} WHERE t.slug = $1`, [slug]);
    return tenant ?? null;
  }

  async get(tenantId: string): Promise<RegisteredTenant | null> {
    const [tenant] = await this.#pool.query<RegisteredTenant>(`${TENANT} WHERE t.id = $1`, [tenantId]);
    return tenant ?? null;
  }

  /** Returns all existing tenants that a resource claimed: one, unless the resource was recreated with another slug. */
  async findByOwner(owner: Owner): Promise<RegisteredTenant[]> {
    return this.#pool.query<RegisteredTenant>(`${TENANT} WHERE t.namespace_uid = $1 AND t.name = $2 ORDER BY t.id`, [
      owner.namespaceUid,
      owner.name,
    ]);
  }

  async list(): Promise<RegisteredTenant[]> {
    return this.#pool.query<RegisteredTenant>(`${TENANT} ORDER BY t.id`);
  }

  /** Marks the data as older than the resource: rows of deleted resources are removed as soon as the tenant is reconciled. */
  async beginAdoption(tenantId: string): Promise<void> {
    await this.#pool.query('UPDATE registry.tenants SET adopting = true WHERE id = $1', [tenantId]);
  }

  /** Ends the adoption: from now on the tenant's claim is reported like any other. */
  async endAdoption(tenantId: string): Promise<void> {
    await this.#pool.query('UPDATE registry.tenants SET adopting = false WHERE id = $1', [tenantId]);
  }

  /**
   * Retains the data of a deleted resource, with slug and hosts: a browser that returns to one of these hosts would otherwise
   * send its cookies to another tenant.
   */
  async retain(tenantId: string): Promise<void> {
    await this.#setState(tenantId, 'retained');
  }

  /** Marks the data as being removed: the tenant can no longer be claimed or adopted. */
  async markDeleting(tenantId: string): Promise<void> {
    await this.#setState(tenantId, 'deleting');
  }

  /** Deletes a tenant whose data are removed, with its hosts and secrets. Its id is never used again. */
  async remove(tenantId: string): Promise<void> {
    await this.#pool.query('DELETE FROM registry.tenants WHERE id = $1', [tenantId]);
  }

  /**
   * Records that the role may hold only `to` connections, so the rest is free for others. Does nothing if the count is no longer
   * `from`.
   */
  async lowerConnections(tenantId: string, { from, to }: { from: number; to: number }): Promise<void> {
    await this.#pool.query('UPDATE registry.tenants SET connections = $3 WHERE id = $1 AND connections = $2', [
      tenantId,
      from,
      to,
    ]);
  }

  /**
   * Retained data have no login; while data are being removed, a login may still exist. Adoption tokens are valid for one
   * retention.
   */
  async #setState(tenantId: string, state: TenantState): Promise<void> {
    await this.#pool.transaction(async (tx) => {
      const changed = await tx.query(
        `UPDATE registry.tenants SET state = $2, state_changed_at = now(),
           connections = CASE WHEN $2 = 'retained' THEN 0 ELSE connections END
         WHERE id = $1 AND state <> $2 RETURNING id`,
        [tenantId, state],
      );
      if (changed.length > 0) await dropAdoptionTokens(tx, tenantId);
    });
  }

  /** Returns the secret of this name; the first call stores the one that `generate` returns. Throws SealError. */
  async ensureSecret(tenantId: string, name: string, generate: () => string | Promise<string>): Promise<string> {
    return this.#secrets.ensure(tenantId, name, generate);
  }

  /** Returns the opened secret; null if there is none. Throws SealError. */
  async getSecret(tenantId: string, name: string): Promise<string | null> {
    return this.#secrets.get(tenantId, name);
  }

  async setSecret(tenantId: string, name: string, value: string): Promise<void> {
    await this.#secrets.set(this.#pool, tenantId, name, value);
  }

  /** Makes one step of a credential's rotation (registry-secrets.ts). */
  async rotate(tenantId: string, name: CredentialName, step: RotationStep): Promise<boolean> {
    return this.#secrets.rotate(tenantId, name, step);
  }

  /**
   * Stores the tenant's access to its storage, under the name `storage`, together with the location that it opens. Throws
   * StorageTaken.
   */
  async setStorage(tenantId: string, location: StorageLocation & { readonly isOwn: boolean }, value: string): Promise<void> {
    await this.#pool.transaction(async (tx) => {
      await takeLocation(tx, tenantId, location);
      await this.#secrets.set(tx, tenantId, 'storage', value);
    });
  }

  /**
   * Records the locations of all sealed accesses, whatever the state of their tenants: before locations were recorded, several
   * tenants could name the same one. `read` returns the location of an access, or null if it has no usable one. Returns the
   * accesses of the tenants whose location clashes with another's, and the number of accesses that no key opens.
   */
  async recordStorage(
    read: (sealed: string, slug: string) => Omit<KnownLocation, 'tenantId'> | null,
  ): Promise<{ shared: string[]; unreadable: number }> {
    return this.#pool.transaction(async (tx) => {
      const opened = new Map<string, string>();
      let unreadable = 0;
      const shared = await recordLocations(tx, async () => {
        const rows = await tx.query<{ tenantId: string; slug: string; sealed: string }>(
          `SELECT s.tenant_id::text AS "tenantId", t.slug, s.sealed
           FROM registry.secrets s JOIN registry.tenants t ON t.id = s.tenant_id
           WHERE s.name = 'storage'`,
        );
        return rows.flatMap(({ tenantId, slug, sealed }) => {
          const value = this.#secrets.open(tenantId, 'storage', sealed);
          const location = value === undefined ? null : read(value, slug);
          if (value === undefined || location === null) {
            unreadable += 1;
            return [];
          }
          opened.set(tenantId, value);
          return [{ ...location, tenantId }];
        });
      });
      return { shared: [...opened].flatMap(([tenantId, value]) => (shared.has(tenantId) ? [value] : [])), unreadable };
    });
  }

  /** Returns true if another tenant has its objects in the same location. */
  async sharesStorage(tenantId: string): Promise<boolean> {
    return isShared(this.#pool, tenantId);
  }

  /** Returns true if a bucket of the platform's store was made for the tenant. */
  async hasBucket(tenantId: string): Promise<boolean> {
    const rows = await this.#pool.query(
      `SELECT FROM registry.storage_locations WHERE tenant_id = $1 AND own
       UNION ALL SELECT FROM registry.secrets WHERE tenant_id = $1 AND name = 'bucket'`,
      [tenantId],
    );
    return rows.length > 0;
  }

  /** Distinguishes this registry from others, whose tenants have the same ids. */
  installation(): Promise<string> {
    return this.#installation();
  }

  /** Reseals values of older keys, after a rotation of the platform key. */
  async resealAll(): Promise<{ resealed: number; unopenable: number }> {
    return this.#secrets.resealAll();
  }
}
