import { baseline } from './0001-baseline.ts';
import { folderShares } from './0002-folder-shares.ts';
import { settings } from './0003-settings.ts';
import { requestCounts } from './0004-request-counts.ts';
import { auditOfResources } from './0005-audit-of-resources.ts';
import type { TenantMigration } from './migration.ts';

/** In their order. */
export const tenantMigrations: readonly TenantMigration[] = [baseline, folderShares, settings, requestCounts, auditOfResources];
