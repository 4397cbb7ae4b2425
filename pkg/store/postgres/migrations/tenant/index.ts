import { baseline } from './0001-baseline.ts';
import type { TenantMigration } from './migration.ts';

/** In their order. */
export const tenantMigrations: readonly TenantMigration[] = [baseline];
