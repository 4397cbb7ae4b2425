import type { Sql } from '../pool.ts';

/** What a tenant's role may do: all, read (a session may say otherwise for itself), or not even log in. */
export type DatabaseAccessLevel = 'write' | 'read' | 'none';

/** What all people of a tenant together may have; null: any number. */
export interface TenantLimits {
  /** bytes */
  readonly storage: number | null;
  /** Files, folders and what belongs to them: users.entries. */
  readonly files: number | null;
}

/** What carrel.tenants has of them. */
interface WrittenLimits {
  readonly storageLimit: number | null;
  readonly filesLimit: number | null;
}

export const areSame = ({ storageLimit, filesLimit }: WrittenLimits, { storage, files }: TenantLimits): boolean =>
  storageLimit === storage && filesLimit === files;

export const writeLimits = (sql: Sql, role: string, { storage, files }: TenantLimits): Promise<unknown> =>
  sql.query('UPDATE carrel.tenants SET storage_limit = $2, files_limit = $3 WHERE role = $1', [role, storage, files]);
