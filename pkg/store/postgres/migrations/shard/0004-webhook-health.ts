import type { Migration } from '../migration.ts';

/**
 * `webhook_health`: webhooks of Kubernetes resources whose health changed; the operator deletes the rows that it has read.
 * The worker inserts them in the transaction that changes the webhook, so the operator queries each shard once and no tenant's
 * schema. Deliveries are listed by time; failed deliveries are few among very many and have an index of their own.
 */
export const webhookHealth: Migration<object> = {
  name: '0004-webhook-health',
  loses: 'Changes of webhooks’ health that the operator has not read.',
  up: () => `
      CREATE TABLE carrel.webhook_health (
        tenant name NOT NULL,
        endpoint uuid NOT NULL,
        managed_ref varchar(320) NOT NULL,
        noted_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant, endpoint)
      );
      ALTER TABLE carrel.webhook_health ENABLE ROW LEVEL SECURITY;
      CREATE POLICY webhook_health_of_worker ON carrel.webhook_health TO carrel_worker USING (true) WITH CHECK (true);
      REVOKE ALL ON carrel.webhook_health FROM PUBLIC;
      GRANT SELECT, INSERT, UPDATE ON carrel.webhook_health TO carrel_worker;

      DROP INDEX carrel.deliveries_endpoint_idx;
      CREATE INDEX deliveries_endpoint_idx ON carrel.deliveries (tenant, endpoint, created_at, id);
      CREATE INDEX deliveries_unarrived_idx ON carrel.deliveries (tenant, endpoint, created_at, id) WHERE state <> 'delivered';
    `,
  down: () => `
      DROP INDEX carrel.deliveries_unarrived_idx;
      DROP INDEX carrel.deliveries_endpoint_idx;
      CREATE INDEX deliveries_endpoint_idx ON carrel.deliveries (tenant, endpoint, id);
      DROP TABLE carrel.webhook_health;
    `,
};
