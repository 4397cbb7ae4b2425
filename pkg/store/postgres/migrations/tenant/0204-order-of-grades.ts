import type { TenantMigration } from './migration.ts';

/** The order of a list of all grades. */
export const orderOfGrades: TenantMigration = {
  name: '0204-order-of-grades',
  up: () => `
      CREATE INDEX lti_grades_timestamp_idx ON lti_grades (timestamp, id);
    `,
  down: () => `
      DROP INDEX lti_grades_timestamp_idx;
    `,
};
