import type { Migration } from '../migration.ts';

/**
 * A tenant's move to another shard (pkg/tenantdata/move.ts). While `moving_until` is ahead, `moving_by` copies its rows to
 * `moving_to`, and nobody else changes its role. `former_shard`: it has moved, and what it left there is not removed yet.
 */
export const moves: Migration<object> = {
  name: '0011-moves',
  loses: 'Which tenants move to another shard, and what they left on the former one.',
  up: () => `
      ALTER TABLE registry.tenants
        ADD COLUMN moving_to varchar(63),
        ADD COLUMN moving_by uuid,
        ADD COLUMN moving_until timestamptz(3),
        ADD COLUMN former_shard varchar(63)`,
  down: () => `
      ALTER TABLE registry.tenants DROP COLUMN moving_to, DROP COLUMN moving_by, DROP COLUMN moving_until, DROP COLUMN former_shard`,
};
