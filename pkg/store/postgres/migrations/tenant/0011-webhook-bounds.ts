import type { TenantMigration } from './migration.ts';

/**
 * Bounds of a webhook's sealed values, since workers open them beside other tenants' secrets: 20 headers of 1,024 characters seal
 * to 58 KB. Carrel never wrote a row beyond the bounds; such rows are deleted, so that no tenant's rows block an upgrade. A
 * tenant has few webhooks, so all are validated here.
 */
export const webhookBounds: TenantMigration = {
  name: '0011-webhook-bounds',
  up: () => `
      LOCK TABLE webhooks;
      DELETE FROM webhooks WHERE greatest(octet_length(secret), octet_length(previous_secret), octet_length(headers)) > 64 * 1024;
      ALTER TABLE webhooks
        ADD CONSTRAINT webhooks_sealed_bound CHECK (greatest(octet_length(secret), octet_length(previous_secret), octet_length(headers)) <= 64 * 1024) NOT VALID;
      ALTER TABLE webhooks VALIDATE CONSTRAINT webhooks_sealed_bound;
    `,
  down: () => 'ALTER TABLE webhooks DROP CONSTRAINT webhooks_sealed_bound',
};
