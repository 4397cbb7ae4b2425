import type { TenantMigration } from './migration.ts';

/**
 * What a tenant's administrators, or the Tenant resource, decide for all its people: the policy of share links. There is no row
 * until somebody changes a setting; until then the defaults hold. `share_links_managed_by`: what alone may change the policy.
 */
export const settings: TenantMigration = {
  name: '0003-settings',
  loses: 'The settings of each tenant: its policy of share links.',
  up: () => `
      CREATE TABLE settings (
        is_sole boolean PRIMARY KEY DEFAULT true CHECK (is_sole),
        share_links_enabled boolean NOT NULL DEFAULT true,
        share_links_password_required boolean NOT NULL DEFAULT false,
        share_links_max_days integer CHECK (share_links_max_days BETWEEN 1 AND 3650),
        share_links_folder_uploads boolean NOT NULL DEFAULT true,
        share_links_managed_by varchar(50),
        revision bigint NOT NULL DEFAULT 1,
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE TRIGGER touch BEFORE UPDATE ON settings FOR EACH ROW WHEN (OLD IS DISTINCT FROM NEW) EXECUTE FUNCTION carrel.touch();
      CREATE TRIGGER audit_update AFTER UPDATE ON settings FOR EACH ROW WHEN (OLD IS DISTINCT FROM NEW)
        EXECUTE FUNCTION carrel.audit_settings();
    `,
  down: () => 'DROP TABLE settings;',
};
