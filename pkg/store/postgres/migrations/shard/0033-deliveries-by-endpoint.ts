import type { Migration } from '../migration.ts';

/**
 * Due deliveries of each webhook in their order, so that those of one that does not answer are passed by, however many they are.
 * It may be there already (docs/operate/upgrade.md, Roll out a new release).
 */
export const deliveriesByEndpoint: Migration<object> = {
  name: '0033-deliveries-by-endpoint',
  up: () =>
    'CREATE INDEX IF NOT EXISTS deliveries_due_of_endpoint_idx ON carrel.deliveries (tenant, endpoint, due_at, id) WHERE due_at IS NOT NULL',
  down: () => 'DROP INDEX carrel.deliveries_due_of_endpoint_idx',
};
