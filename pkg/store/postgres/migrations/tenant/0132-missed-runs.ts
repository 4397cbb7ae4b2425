import type { TenantMigration } from './migration.ts';

/** How often runs of a schedule were missed and not caught up. */
export const missedRuns: TenantMigration = {
  name: '0132-missed-runs',
  loses: 'How often runs of schedules were missed.',
  up: () => 'ALTER TABLE schedules ADD COLUMN missed bigint NOT NULL DEFAULT 0',
  down: () => 'ALTER TABLE schedules DROP COLUMN missed',
};
