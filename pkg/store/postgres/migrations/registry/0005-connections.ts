import type { Migration } from '../migration.ts';

/** How many connections each tenant's role may open: the sum for each shard is bounded. */
export const connections: Migration<object> = {
  name: '0005-connections',
  loses: 'The recorded limits of connections; the roles keep theirs.',
  up: () => 'ALTER TABLE registry.tenants ADD COLUMN connections integer NOT NULL DEFAULT 0 CHECK (connections >= 0)',
  down: () => 'ALTER TABLE registry.tenants DROP COLUMN connections',
};
