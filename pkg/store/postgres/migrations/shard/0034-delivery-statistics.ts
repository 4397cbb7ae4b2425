import type { Migration } from '../migration.ts';

/**
 * What each webhook was sent in each hour (UTC): attempts, those that failed, and how long the receiver took, as counts by bucket
 * (pkg/webhooks/statistics). The worker adds to the row in the statement that writes outcomes, so nobody counts deliveries.
 */
export const deliveryStatistics: Migration<object> = {
  name: '0034-delivery-statistics',
  loses: 'Statistics of webhooks, of a week.',
  up: () => `
      CREATE TABLE carrel.delivery_statistics (
        tenant name NOT NULL,
        endpoint uuid NOT NULL,
        hour timestamptz(3) NOT NULL,
        sent integer NOT NULL CHECK (sent >= 0),
        failed integer NOT NULL CHECK (failed BETWEEN 0 AND sent),
        latency integer[] NOT NULL,
        PRIMARY KEY (tenant, endpoint, hour)
      ) WITH (fillfactor = 50);
      CREATE INDEX delivery_statistics_hour_idx ON carrel.delivery_statistics (hour);
      ALTER TABLE carrel.delivery_statistics ENABLE ROW LEVEL SECURITY;
      ALTER TABLE carrel.delivery_statistics FORCE ROW LEVEL SECURITY;
      CREATE POLICY delivery_statistics_of_tenant ON carrel.delivery_statistics FOR SELECT TO carrel_tenant USING (tenant = current_user);
      CREATE POLICY delivery_statistics_of_worker ON carrel.delivery_statistics TO carrel_worker USING (true) WITH CHECK (true);
      CREATE POLICY delivery_statistics_of_operator ON carrel.delivery_statistics TO CURRENT_USER USING (true) WITH CHECK (true);
      REVOKE ALL ON carrel.delivery_statistics FROM PUBLIC;
      GRANT SELECT ON carrel.delivery_statistics TO carrel_tenant;
      GRANT SELECT, INSERT, UPDATE, DELETE ON carrel.delivery_statistics TO carrel_worker;
    `,
  down: () => 'DROP TABLE carrel.delivery_statistics',
};
