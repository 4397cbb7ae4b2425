import type { Pod } from '../../kube/kinds.ts';
import type { ResourceApi } from '../../kube/resource.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import type { ObservedTenant } from '../kinds.ts';
import { secretNames, selectorText } from '../names.ts';
import type { Secrets } from '../secrets.ts';
import type { OpenShard, Shards, ShardSettings } from '../shards.ts';
import type { Outcome } from '../steps.ts';
import type { Adoption } from './adoption.ts';
import type { Claim } from './claims.ts';
import { connectionsOf, EndingPods } from './connections.ts';
import type { Migrations } from './migrations.ts';
import { secretOwner } from './owner.ts';

export interface DatabaseAccess {
  readonly shard: OpenShard;
  readonly schemaVersion: string;
  /** Checksum of the Secret that pods read. */
  readonly checksum: string;
}

const PASSWORD_BYTES = 24;
/** Pods of a tenant that was suspended are looked for again. */
const PODS_RETRY_MS = 2_000;

/** The step `DatabaseReady`: the tenant's schema and login role on its shard, migrated, and their Secret. One statement when nothing changed. */
export class Databases {
  readonly #shards: Shards;
  readonly #secrets: Secrets;
  readonly #migrations: Migrations;
  readonly #adoption: Adoption;
  readonly #pods: ResourceApi<Pod>;
  readonly #random: Random;
  readonly #ending: EndingPods;

  constructor(deps: {
    shards: Shards;
    secrets: Secrets;
    migrations: Migrations;
    adoption: Adoption;
    pods: ResourceApi<Pod>;
    random: Random;
    clock: Clock;
  }) {
    this.#shards = deps.shards;
    this.#secrets = deps.secrets;
    this.#migrations = deps.migrations;
    this.#adoption = deps.adoption;
    this.#pods = deps.pods;
    this.#random = deps.random;
    this.#ending = new EndingPods(deps.clock);
  }

  async ensure(tenant: ObservedTenant, claim: Claim): Promise<Outcome<DatabaseAccess>> {
    const { tenantId, slug, shard: name, isAdopting } = claim;
    const open = await this.#shards.open(name);
    const { shard, settings } = open;
    const password = this.#passwordInUse(tenant) ?? (await this.#sealedPassword(tenantId));
    const connections = connectionsOf(tenant);
    const suspended = connections === 0 ? { isInUse: async () => this.#ending.mayLast(tenantId) && (await this.#hasPods(tenant)) } : {};
    const database = await shard.ensureTenantDatabase({ slug, tenantId, password, connections, ...suspended });
    if (!database.isPutOff) {
      this.#ending.end(tenantId);
      if (connections < claim.connections)
        await (await this.#shards.registry()).lowerConnections(tenantId, { from: claim.connections, to: connections });
    }
    const schemaVersion =
      database.schemaVersion === shard.latestVersion
        ? database.schemaVersion
        : await this.#migrations.run({ slug, isUpgrade: database.schemaVersion !== null }, () => shard.migrateTenant({ slug, tenantId }));
    if (isAdopting) {
      await this.#adoption.clean(tenant, { slug, pool: open.pool });
      await (await this.#shards.registry()).endAdoption(tenantId);
    }
    const url = tenantUrl(settings, tenantRole(slug), password);
    const checksum = await this.#secrets.write(secretOwner(tenant), secretNames(tenant).database, { url });
    const found = {
      value: { shard: open, schemaVersion, checksum },
      reason: 'Migrated',
      message: `schema at ${schemaVersion} on shard ${name}`,
    };
    return database.isPutOff ? { ...found, retryAfterMs: PODS_RETRY_MS } : found;
  }

  async #hasPods(tenant: ObservedTenant): Promise<boolean> {
    const pods = await this.#pods.list({ namespace: tenant.metadata.namespace, labelSelector: selectorText(tenant) });
    return pods.length > 0;
  }

  #passwordInUse(tenant: ObservedTenant): string | undefined {
    const url = this.#secrets.intact(secretOwner(tenant), secretNames(tenant).database)?.['url'];
    if (url === undefined || !URL.canParse(url)) return undefined;
    return decodeURIComponent(new URL(url).password) || undefined;
  }

  async #sealedPassword(tenantId: string): Promise<string> {
    const registry = await this.#shards.registry();
    const sealed = await registry.ensureSecret(tenantId, 'database', () =>
      JSON.stringify({ password: this.#random.base64url(PASSWORD_BYTES) }),
    );
    return (JSON.parse(sealed) as { password: string }).password;
  }
}

/** The shard's address as the tenant dials it; parameters such as sslmode are the operator's. */
export function tenantUrl(settings: Pick<ShardSettings, 'url' | 'tenantAddress'>, role: string, password: string): string {
  const url = new URL(settings.url);
  return `postgres://${encodeURIComponent(role)}:${encodeURIComponent(password)}@${settings.tenantAddress}${url.pathname}${url.search}`;
}
