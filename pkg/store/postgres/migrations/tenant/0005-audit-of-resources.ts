import type { TenantMigration } from './migration.ts';

/**
 * Finds the grants and share links of a file or folder in the audit log. Of their entries, only that of the creation names the
 * resource (pkg/audit/audit.sql.ts).
 */
export const auditOfResources: TenantMigration = {
  name: '0005-audit-of-resources',
  up: () => `
      CREATE INDEX audit_entries_resource_idx ON audit_entries
        ((coalesce(changes #>> '{resource_id,to}', changes #>> '{file_id,to}', changes #>> '{folder_id,to}')))
        WHERE action IN ('grant.create', 'share.create');
    `,
  down: () => 'DROP INDEX audit_entries_resource_idx;',
};
