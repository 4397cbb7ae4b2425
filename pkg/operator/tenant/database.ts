import type { Random } from '../../runtime/random.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import type { ObservedTenant } from '../kinds.ts';
import { secretNames } from '../names.ts';
import type { Secrets } from '../secrets.ts';
import type { OpenShard, Shards, ShardSettings } from '../shards.ts';
import type { Outcome } from '../steps.ts';
import { MAX_SURGE, runningReplicasOf } from './children/deployment.ts';
import type { Adoption } from './adoption.ts';
import type { Claim } from './claims.ts';
import type { Migrations } from './migrations.ts';
import { secretOwner } from './owner.ts';

export interface DatabaseAccess {
  readonly shard: OpenShard;
  readonly schemaVersion: string;
  /** Checksum of the Secret that pods read. */
  readonly checksum: string;
}

const PASSWORD_BYTES = 24;
/** For a person with psql, and for a pod that ends late. */
const SPARE_CONNECTIONS = 2;

/** The step `DatabaseReady`: the tenant's schema and login role on its shard, migrated, and their Secret. One statement when nothing changed. */
export class Databases {
  readonly #shards: Shards;
  readonly #secrets: Secrets;
  readonly #migrations: Migrations;
  readonly #adoption: Adoption;
  readonly #random: Random;

  constructor(deps: { shards: Shards; secrets: Secrets; migrations: Migrations; adoption: Adoption; random: Random }) {
    this.#shards = deps.shards;
    this.#secrets = deps.secrets;
    this.#migrations = deps.migrations;
    this.#adoption = deps.adoption;
    this.#random = deps.random;
  }

  async ensure(tenant: ObservedTenant, { tenantId, slug, shard: name, isAdopting }: Claim): Promise<Outcome<DatabaseAccess>> {
    const open = await this.#shards.open(name);
    const { shard, settings } = open;
    const password = this.#passwordInUse(tenant) ?? (await this.#sealedPassword(tenantId));
    const database = await shard.ensureTenantDatabase({ slug, tenantId, password, connections: connectionsOf(tenant) });
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
    return { value: { shard: open, schemaVersion, checksum }, reason: 'Migrated', message: `schema at ${schemaVersion} on shard ${name}` };
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

/** How many connections the tenant's role may hold (design: section 3). */
export const connectionsOf = (tenant: ObservedTenant): number =>
  tenant.spec.database.poolSize * (runningReplicasOf(tenant) + MAX_SURGE) + SPARE_CONNECTIONS;

/** The shard's address as the tenant dials it; parameters such as sslmode are the operator's. */
export function tenantUrl(settings: Pick<ShardSettings, 'url' | 'tenantAddress'>, role: string, password: string): string {
  const url = new URL(settings.url);
  return `postgres://${encodeURIComponent(role)}:${encodeURIComponent(password)}@${settings.tenantAddress}${url.pathname}${url.search}`;
}
