import type { Migration } from '../migration.ts';

/** When a tenant gave a host up; until a while later (hosts.ts) it is nobody else's. Null: the tenant answers there. */
export const leftHosts: Migration<object> = {
  name: '0006-left-hosts',
  up: (tx) => tx.query('ALTER TABLE registry.hosts ADD COLUMN left_at timestamptz(3)'),
  down: (tx) => tx.query('DELETE FROM registry.hosts WHERE left_at IS NOT NULL; ALTER TABLE registry.hosts DROP COLUMN left_at'),
};
