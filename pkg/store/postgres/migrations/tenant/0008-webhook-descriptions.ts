import type { TenantMigration } from './migration.ts';

/**
 * A webhook has a description. Only a change of its settings makes a new revision; the worker's notes about deliveries do not.
 */
export const webhookDescriptions: TenantMigration = {
  name: '0008-webhook-descriptions',
  loses: 'The descriptions of webhooks.',
  up: () => `
      ALTER TABLE webhooks ADD COLUMN description varchar(500);
      DROP TRIGGER touch ON webhooks;
      CREATE TRIGGER touch BEFORE UPDATE ON webhooks FOR EACH ROW
        WHEN ((OLD.url, OLD.events, OLD.secret, OLD.previous_secret_until, OLD.headers, OLD.active, OLD.description, OLD.managed_by, OLD.managed_ref)
          IS DISTINCT FROM (NEW.url, NEW.events, NEW.secret, NEW.previous_secret_until, NEW.headers, NEW.active, NEW.description, NEW.managed_by, NEW.managed_ref))
        EXECUTE FUNCTION carrel.touch();
    `,
  down: () => `
      DROP TRIGGER touch ON webhooks;
      CREATE TRIGGER touch BEFORE UPDATE OF url, events, secret, headers, active, managed_by, managed_ref ON webhooks
        FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      ALTER TABLE webhooks DROP COLUMN description;
    `,
};
