import type { Migration } from '../migration.ts';

const TABLES = ['work', 'events', 'deliveries', 'webhook_health', 'unknown_deployments'] as const;

/**
 * Row-level security holds for the owner of the tables, the operator, too: a policy says what it may read, as for every other
 * role. Postgres checks foreign keys without row-level security.
 */
export const forcedRowSecurity: Migration<object> = {
  name: '0008-forced-row-security',
  up: () =>
    TABLES.map(
      (table) => `
          CREATE POLICY ${table}_of_operator ON carrel.${table} TO CURRENT_USER USING (true) WITH CHECK (true);
          ALTER TABLE carrel.${table} FORCE ROW LEVEL SECURITY;`,
    ).join(''),
  down: () =>
    TABLES.map(
      (table) => `
          ALTER TABLE carrel.${table} NO FORCE ROW LEVEL SECURITY;
          DROP POLICY ${table}_of_operator ON carrel.${table};`,
    ).join(''),
};
