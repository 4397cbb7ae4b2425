import type { Sql } from '../pool.ts';

/** The rights of a tenant's role: to write, to read (a session may override this for itself), or not even to log in. */
export type DatabaseAccessLevel = 'write' | 'read' | 'none';

/** The limits of all people of a tenant together; null: no limit. */
export interface TenantLimits {
  /** bytes */
  readonly storage: number | null;
  /** Files, folders and what belongs to them: users.entries. */
  readonly files: number | null;
}

/** The columns of carrel.tenants that hold limits. */
interface WrittenLimits {
  readonly storageLimit: number | null;
  readonly filesLimit: number | null;
}

export const areSame = ({ storageLimit, filesLimit }: WrittenLimits, { storage, files }: TenantLimits): boolean =>
  storageLimit === storage && filesLimit === files;

export const writeLimits = (sql: Sql, role: string, { storage, files }: TenantLimits): Promise<unknown> =>
  sql.query('UPDATE carrel.tenants SET storage_limit = $2, files_limit = $3 WHERE role = $1', [role, storage, files]);
