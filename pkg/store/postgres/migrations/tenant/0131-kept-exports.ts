import type { TenantMigration } from './migration.ts';

/**
 * Archives that a schedule has made (the kind `export_folder`): `schedule` is its uuid, also once the schedule is deleted. Those
 * that stay until newer ones replace them expire at `infinity`.
 */
export const keptExports: TenantMigration = {
  name: '0131-kept-exports',
  loses: 'Schedules of the kind export_folder; their archives go after a day.',
  up: () => `
      ALTER TABLE exports ADD COLUMN schedule uuid;
      CREATE INDEX exports_schedule_idx ON exports (schedule, id) WHERE schedule IS NOT NULL;
    `,
  down: () => `
      DELETE FROM schedules WHERE kind = 'export_folder';
      UPDATE exports SET expires_at = now() + interval '1 day' WHERE expires_at = 'infinity';
      INSERT INTO carrel.work (tenant, kind, payload, due_at)
        SELECT current_schema(), 'exports.expire', '{}', max(expires_at) FROM exports WHERE schedule IS NOT NULL HAVING count(*) > 0;
      ALTER TABLE exports DROP COLUMN schedule;
    `,
};
