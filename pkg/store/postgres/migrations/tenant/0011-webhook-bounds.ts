import type { TenantMigration } from './migration.ts';

/**
 * What of a webhook is sealed has a bound, since workers open it beside other tenants' secrets: 20 headers of 1,024 characters seal to 58 KB.
 * A row beyond it was made by nothing of Carrel's, and goes, so that no tenant's rows hold up an upgrade; a tenant has few rows, so all are looked at here.
 */
export const webhookBounds: TenantMigration = {
  name: '0011-webhook-bounds',
  up: (tx) =>
    tx.query(`
      LOCK TABLE webhooks;
      DELETE FROM webhooks WHERE greatest(octet_length(secret), octet_length(previous_secret), octet_length(headers)) > 64 * 1024;
      ALTER TABLE webhooks
        ADD CONSTRAINT webhooks_sealed_bound CHECK (greatest(octet_length(secret), octet_length(previous_secret), octet_length(headers)) <= 64 * 1024) NOT VALID;
      ALTER TABLE webhooks VALIDATE CONSTRAINT webhooks_sealed_bound;
    `),
  down: (tx) => tx.query('ALTER TABLE webhooks DROP CONSTRAINT webhooks_sealed_bound'),
};
