import { type Administrator, ensureAdministrator, type Usage, usageOf } from './provisioning/accounts.ts';
import { ensureShard, type ShardAccess } from './provisioning/base.ts';
import { endSessions } from './provisioning/sessions.ts';
import {
  boundConnections,
  disableLogin,
  dropTenant,
  ensureTenantDatabase,
  LATEST_VERSION,
  migrateTenant,
  rollbackTenant,
  schemaVersion,
  type TenantDatabase,
} from './provisioning/tenant.ts';

export type { Administrator, Usage } from './provisioning/accounts.ts';
export { SYSTEM_USERNAME } from './migrations/tenant/0001-people.ts';
export { MAX_FOLDER_DEPTH } from './migrations/tenant/0002-files.ts';
export { ShardUnfit, TENANT_GROUP, WORKER_ROLE } from './provisioning/base.ts';
export { LATEST_VERSION, type TenantDatabase, tenantRole } from './provisioning/tenant.ts';

type TenantId = Pick<TenantDatabase, 'slug' | 'tenantId'>;

/** One shard as the operator works on it: what each method promises stands at its function in provisioning/. All throw StoreUnavailableError. */
export class Shard {
  /** The newest migration's name: a tenant whose version it is needs none. */
  readonly latestVersion = LATEST_VERSION;
  readonly #access: ShardAccess;

  constructor(access: ShardAccess) {
    this.#access = access;
  }

  /** Throws ShardUnfit. */
  ensureShard(options: { workerPassword?: string } = {}): Promise<void> {
    return ensureShard(this.#access, options);
  }

  ensureTenantDatabase(tenant: TenantDatabase): Promise<{ changed: boolean; isPutOff?: boolean; schemaVersion: string | null }> {
    return ensureTenantDatabase(this.#access, tenant);
  }

  boundConnections(most: number): Promise<ReadonlyMap<string, number>> {
    return boundConnections(this.#access, most);
  }

  /** Migrates to `latestVersion`, the system user included; gives that version. */
  migrateTenant(tenant: TenantId): Promise<string> {
    return migrateTenant(this.#access, tenant);
  }

  rollbackTenant(tenant: TenantId, to: string | 0): Promise<string | null> {
    return rollbackTenant(this.#access, tenant, to);
  }

  schemaVersion(slug: string): Promise<string | null> {
    return schemaVersion(this.#access, slug);
  }

  ensureAdministrator(slug: string, administrator: Administrator): Promise<void> {
    return ensureAdministrator(this.#access, slug, administrator);
  }

  usage(slug: string): Promise<Usage> {
    return usageOf(this.#access, slug);
  }

  disableLogin(slug: string): Promise<void> {
    return disableLogin(this.#access, slug);
  }

  endSessions(slug: string): Promise<void> {
    return endSessions(this.#access, slug);
  }

  dropTenant(slug: string, options?: { budgetMs: number }): Promise<boolean> {
    return dropTenant(this.#access, slug, options);
  }
}
