import type { TenantMigration } from './migration.ts';

/**
 * Items of imports: entries of an archive, whose name is a path. `entry` says where in the archive it is and what it is to become
 * (pkg/content/imports); it is there until the item has ended. `content` is its content in the store, while no version names
 * that: partial_upload_segments have its key.
 */
export const imports: TenantMigration = {
  name: '0140-imports',
  loses: 'Jobs of the kind import; what they have not yet made files of goes with the uploads that expire.',
  up: () => `
      ALTER TABLE task_items ALTER COLUMN target_name TYPE varchar(2048), ADD COLUMN entry jsonb, ADD COLUMN content jsonb,
        DROP CONSTRAINT task_items_target_type_check,
        ADD CONSTRAINT task_items_target_type_check CHECK (target_type IN ('file', 'folder', 'entry'));
    `,
  down: () => `
      DELETE FROM tasks WHERE kind = 'import';
      ALTER TABLE task_items DROP COLUMN content, DROP COLUMN entry, ALTER COLUMN target_name TYPE varchar(255),
        DROP CONSTRAINT task_items_target_type_check,
        ADD CONSTRAINT task_items_target_type_check CHECK (target_type IN ('file', 'folder'));
    `,
};
