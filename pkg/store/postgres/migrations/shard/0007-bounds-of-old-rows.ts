import type { Migration } from '../migration.ts';

/**
 * Validates the bounds of 0006 for all rows, in a transaction of its own: validating a large table blocks neither reads nor
 * writes.
 */
export const boundsOfOldRows: Migration<object> = {
  name: '0007-bounds-of-old-rows',
  up: () => `
      DELETE FROM carrel.events WHERE octet_length(payload) > 256 * 1024;
      ALTER TABLE carrel.work VALIDATE CONSTRAINT work_payload_bound;
      ALTER TABLE carrel.work VALIDATE CONSTRAINT work_due_at_bound;
      ALTER TABLE carrel.deliveries VALIDATE CONSTRAINT deliveries_due_at_bound;
      ALTER TABLE carrel.events VALIDATE CONSTRAINT events_payload_bound;
    `,
  down: () => `
      ALTER TABLE carrel.work DROP CONSTRAINT work_payload_bound, DROP CONSTRAINT work_due_at_bound;
      ALTER TABLE carrel.work
        ADD CONSTRAINT work_payload_bound CHECK (octet_length(payload::text) <= 1024 * 1024) NOT VALID,
        ADD CONSTRAINT work_due_at_bound CHECK (due_at > '-infinity') NOT VALID;
      ALTER TABLE carrel.deliveries DROP CONSTRAINT deliveries_due_at_bound;
      ALTER TABLE carrel.deliveries ADD CONSTRAINT deliveries_due_at_bound CHECK (due_at > '-infinity') NOT VALID;
      ALTER TABLE carrel.events DROP CONSTRAINT events_payload_bound;
      ALTER TABLE carrel.events ADD CONSTRAINT events_payload_bound CHECK (octet_length(payload) <= 256 * 1024) NOT VALID;
    `,
};
