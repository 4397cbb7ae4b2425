import type { TenantMigration } from './migration.ts';

/**
 * What was in a folder when that went to the trash went with it: `trashed_with` is that folder's id, null for what was deleted by
 * itself. Restoring the folder restores those alone. No foreign key: such a file or folder is below that folder, and is deleted
 * with it.
 */
export const folderTrash: TenantMigration = {
  name: '0036-folder-trash',
  loses: 'What went to the trash with which folder: restoring a folder no longer restores it.',
  up: () => `
      ALTER TABLE folders ADD COLUMN trashed_with bigint;
      ALTER TABLE files ADD COLUMN trashed_with bigint;
    `,
  down: () => `
      ALTER TABLE files DROP COLUMN trashed_with;
      ALTER TABLE folders DROP COLUMN trashed_with;
    `,
};
