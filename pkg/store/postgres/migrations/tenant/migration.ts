import type { Migration } from '../migration.ts';

export interface TenantContext {
  /** The tenant's role, which has the name of its schema. Migrations run with `search_path` at that schema and never name it. */
  readonly role: string;
  /** A decimal string. */
  readonly tenantId: string;
}
export type TenantMigration = Migration<TenantContext>;
