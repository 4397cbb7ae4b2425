import type { TenantMigration } from './migration.ts';

/**
 * How many requests the tenant's servers answered in each hour (UTC), by outcome. Every server adds to the row of an hour, which
 * is there once something was asked in it.
 */
export const requestCounts: TenantMigration = {
  name: '0004-request-counts',
  loses: 'How many requests each tenant’s servers answered in the last 90 days.',
  up: () => `
      CREATE TABLE request_counts (
        hour timestamptz(3) PRIMARY KEY,
        succeeded bigint NOT NULL CHECK (succeeded >= 0),
        refused bigint NOT NULL CHECK (refused >= 0),
        failed bigint NOT NULL CHECK (failed >= 0)
      );
    `,
  down: () => 'DROP TABLE request_counts;',
};
