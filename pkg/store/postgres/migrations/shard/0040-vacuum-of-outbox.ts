import type { Migration } from '../migration.ts';

/**
 * A delivery that ends leaves an entry in each index, and one that expires another; whoever looks for due ones passes the former
 * by until a vacuum. By default that waits for a fifth of the table, which is days where there are many millions. Neither setting
 * waits for what reads or writes rows.
 */
export const vacuumOfOutbox: Migration<object> = {
  name: '0040-vacuum-of-outbox',
  up: () =>
    ['events', 'deliveries']
      .map(
        (table) =>
          `ALTER TABLE carrel.${table} SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);`,
      )
      .join(' '),
  down: () =>
    ['events', 'deliveries']
      .map((table) => `ALTER TABLE carrel.${table} RESET (autovacuum_vacuum_scale_factor, autovacuum_analyze_scale_factor);`)
      .join(' '),
};
