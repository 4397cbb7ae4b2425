import type { Migration } from '../migration.ts';

/** When a tenant gave up a host; for some time after that (hosts.ts) no other tenant gets it. Null: the tenant uses the host. */
export const leftHosts: Migration<object> = {
  name: '0006-left-hosts',
  loses: 'Hosts that a tenant gave up: another tenant may have them at once.',
  up: () => 'ALTER TABLE registry.hosts ADD COLUMN left_at timestamptz(3)',
  down: () => 'DELETE FROM registry.hosts WHERE left_at IS NOT NULL; ALTER TABLE registry.hosts DROP COLUMN left_at',
};
