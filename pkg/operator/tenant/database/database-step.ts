import type { Pod } from '../../../kube/kinds.ts';
import type { ResourceApi } from '../../../kube/resource.ts';
import { findCondition } from '../../../kube/status.ts';
import type { Clock } from '../../../runtime/clock.ts';
import {
  type DatabaseAccessLevel,
  ensureTenantDatabase,
  migrateTenant,
  OtherTenantsSchema,
  tenantRole,
} from '../../../store/postgres/provisioning.ts';
import type { ObservedTenant } from '../../kinds.ts';
import { NOT_ENDED, secretNames, selectorText } from '../../names.ts';
import type { Secrets } from '../../secrets.ts';
import { type OpenShard, type Shards, type ShardSettings, UNFIT_RETRY_MS } from '../../shards.ts';
import type { TenantSchema } from '../../../store/postgres/tenant-schema.ts';
import { ConditionError, type StepResult } from '../../conditions/runner.ts';
import { databaseSecret } from './database-secret.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import { mostReplicasOf } from '../workload/replicas.ts';
import { connectionsOf, EndingPods } from './role-connections.ts';
import { limitsOf } from '../limits/limits.ts';
import type { GeneratedPassword } from '../secrets/generated-password.ts';
import type { Migrations } from './migrations.ts';
import { MOVE_RETRY_MS, type Moves } from '../moves/moves.ts';
import { secretOwner } from '../secrets/secret-owner.ts';

export interface DatabaseAccess {
  readonly shard: OpenShard;
  readonly schemaVersion: string;
  /** Checksum of the Secret that pods read. */
  readonly checksum: string;
}

/** The wait before pods that must hold fewer connections are counted again. */
const PODS_RETRY_MS = 2_000;

/** The rows that a kind of resource created in a tenant's schema. */
export interface OrphanRows {
  /**
   * Removes the rows whose resource is deleted or being deleted. Retained data contain rows of resources that were deleted
   * meanwhile. They are removed when the data are adopted, so that no receiver gets events of a tenant that it no longer belongs
   * to.
   */
  removeOrphans(tenant: ObservedTenant, schema: TenantSchema): Promise<void>;
}

/**
 * The step `DatabaseReady`: the tenant's schema and login role on its shard, migrated, and their Secret. One statement when
 * nothing changed.
 */
export class DatabaseStep {
  readonly #shards: Shards;
  readonly #secrets: Secrets;
  readonly #migrations: Migrations;
  readonly #password: GeneratedPassword;
  readonly #orphans: readonly OrphanRows[];
  readonly #pods: ResourceApi<Pod>;
  readonly #moves: Moves;
  readonly #ending: EndingPods;

  constructor(deps: {
    shards: Shards;
    secrets: Secrets;
    migrations: Migrations;
    password: GeneratedPassword;
    orphans: readonly OrphanRows[];
    pods: ResourceApi<Pod>;
    moves: Moves;
    clock: Clock;
  }) {
    this.#shards = deps.shards;
    this.#secrets = deps.secrets;
    this.#migrations = deps.migrations;
    this.#password = deps.password;
    this.#orphans = deps.orphans;
    this.#pods = deps.pods;
    this.#moves = deps.moves;
    this.#ending = new EndingPods(deps.clock);
  }

  async run(tenant: ObservedTenant, accepted: AcceptedTenant, access: DatabaseAccessLevel): Promise<StepResult<DatabaseAccess>> {
    const { tenantId, slug, shard: name, isAdopting } = accepted;
    const open = await this.#shards.open(name);
    if (accepted.move?.isAlive) return this.#whileMoving(tenant, accepted, open);
    const left = await this.#moves.settle(tenant, accepted);
    const passwords = await this.#password.of(tenant, accepted);
    const { password } = passwords;
    const connections = connectionsOf(tenant);
    const isLowered = connections < accepted.connections;
    const lowered = isLowered ? { isInUse: () => this.#isInUse(tenant, tenantId) } : {};
    const limits = limitsOf(tenant);
    const database = await ensureTenantDatabase(open, {
      slug,
      tenantId,
      password,
      connections,
      limits,
      access,
      ...lowered,
    }).catch((error: unknown) => {
      if (!(error instanceof OtherTenantsSchema)) throw error;
      throw new ConditionError('ShardUnfit', `shard ${name}: ${error.message}`, {
        isTerminal: true,
        retryAfterMs: UNFIT_RETRY_MS,
      });
    });
    if (!database.isPutOff) {
      this.#ending.end(tenantId);
      if (isLowered)
        await (await this.#shards.registry()).lowerConnections(tenantId, { from: accepted.connections, to: connections });
    }
    const schemaVersion =
      database.isMigrated && database.schemaVersion !== null
        ? database.schemaVersion
        : await this.#migrations.run({ slug, isUpgrade: database.schemaVersion !== null }, () =>
            migrateTenant(open, { slug, tenantId }),
          );
    if (isAdopting) {
      for (const kind of this.#orphans) await kind.removeOrphans(tenant, { slug, pool: open.pool });
      await (await this.#shards.registry()).endAdoption(tenantId);
    }
    const url = tenantUrl(open.settings, tenantRole(slug), password);
    const [owner, secret] = [secretOwner(tenant), secretNames(tenant).database];
    const data = databaseSecret(url, passwords, this.#secrets.intact(owner, secret), database.isPutOff ?? false);
    const checksum = await this.#secrets.write(owner, secret, data);
    const found = {
      value: { shard: open, schemaVersion, checksum },
      reason: 'Migrated',
      message: `schema at ${schemaVersion} on shard ${name}${left === undefined ? '' : `; ${left}`}`,
    };
    if (left !== undefined) return { ...found, retryAfterMs: MOVE_RETRY_MS };
    return database.isPutOff ? { ...found, retryAfterMs: PODS_RETRY_MS } : found;
  }

  /** Returns the present state; nothing changes while the tenant is moved. */
  async #whileMoving(
    tenant: ObservedTenant,
    { shard, move }: AcceptedTenant,
    open: OpenShard,
  ): Promise<StepResult<DatabaseAccess>> {
    const [owner, secret] = [secretOwner(tenant), secretNames(tenant).database];
    const present = this.#secrets.intact(owner, secret);
    const message = `its rows are copied from shard ${shard} to ${move?.to ?? ''}; it can only be read meanwhile`;
    if (!present) throw new ConditionError('Moving', message, { retryAfterMs: MOVE_RETRY_MS });
    const checksum = await this.#secrets.write(owner, secret, present);
    const value = { shard: open, schemaVersion: tenant.status?.schemaVersion ?? '', checksum };
    return { value, reason: 'Moving', message, retryAfterMs: MOVE_RETRY_MS };
  }

  /**
   * Returns whether pods may hold more connections than the tenant's new limit. Sessions beyond a role's limit are ended
   * (long-transactions.ts), so the pods are replaced first.
   */
  async #isInUse(tenant: ObservedTenant, tenantId: string): Promise<boolean> {
    if (!this.#ending.mayLast(tenantId, tenant.spec.suspended ? 'suspension' : 'rollout')) return false;
    if (!tenant.spec.suspended && !isRolledOut(tenant)) return true;
    const { namespace } = tenant.metadata;
    const pods = await this.#pods.list({ namespace, labelSelector: selectorText(tenant), fieldSelector: NOT_ENDED });
    return pods.length > mostReplicasOf(tenant);
  }
}

/** Returns whether the serving pods run the present spec; former pods may still be ending. */
function isRolledOut({ metadata, status }: ObservedTenant): boolean {
  const available = findCondition(status?.conditions, 'WorkloadAvailable');
  return available?.status === 'True' && available.observedGeneration === metadata.generation;
}

/** Returns the shard's address for the tenant; parameters such as sslmode are the operator's. */
export function tenantUrl(settings: Pick<ShardSettings, 'url' | 'tenantAddress'>, role: string, password: string): string {
  const url = new URL(settings.url);
  const login = `${encodeURIComponent(role)}:${encodeURIComponent(password)}`;
  return `postgres://${login}@${settings.tenantAddress}${url.pathname}${url.search}`;
}
