import type { Migration } from '../migration.ts';

/**
 * Bounds on what a tenant's own role can write here, so that no tenant's rows fill a worker's memory or break its statistics.
 * They are far above what Carrel writes. They are added NOT VALID, so they hold for new rows at once without a long lock; the
 * next migration validates the old rows. Jobs are updated when they are leased, and one old row beyond the bounds would make that
 * fail for all tenants: such rows are deleted first.
 */
export const bounds: Migration<object> = {
  name: '0006-bounds',
  up: () => `
      LOCK TABLE carrel.work;
      UPDATE carrel.work SET due_at = now() WHERE due_at = '-infinity';
      DELETE FROM carrel.work WHERE octet_length(payload::text) > 1024 * 1024;
      ALTER TABLE carrel.work
        ADD CONSTRAINT work_payload_bound CHECK (octet_length(payload::text) <= 1024 * 1024) NOT VALID,
        ADD CONSTRAINT work_due_at_bound CHECK (due_at > '-infinity') NOT VALID;
      ALTER TABLE carrel.deliveries ADD CONSTRAINT deliveries_due_at_bound CHECK (due_at > '-infinity') NOT VALID;
      ALTER TABLE carrel.events ADD CONSTRAINT events_payload_bound CHECK (octet_length(payload) <= 256 * 1024) NOT VALID;
    `,
  down: () => `
      ALTER TABLE carrel.events DROP CONSTRAINT events_payload_bound;
      ALTER TABLE carrel.deliveries DROP CONSTRAINT deliveries_due_at_bound;
      ALTER TABLE carrel.work DROP CONSTRAINT work_payload_bound, DROP CONSTRAINT work_due_at_bound;
    `,
};
