import type { TenantMigration } from './migration.ts';

/**
 * Indexes that give live files and folders of one place, and groups, in the order of names that people expect (the shard's
 * migration 0025). The unique indexes of live names stay: they decide which names are taken, and servers of the release before
 * read lists by them.
 */
export const namesInOrder: TenantMigration = {
  name: '0081-names-in-order',
  up: () => `
      CREATE INDEX folders_names_idx ON folders (parent_id, name COLLATE carrel.names, id) WHERE deleted_at IS NULL AND parent_id IS NOT NULL;
      CREATE INDEX folders_root_names_idx ON folders (owner_id, name COLLATE carrel.names, id) WHERE deleted_at IS NULL AND parent_id IS NULL;
      CREATE INDEX files_names_idx ON files (folder_id, name COLLATE carrel.names, id) WHERE deleted_at IS NULL AND folder_id IS NOT NULL;
      CREATE INDEX files_root_names_idx ON files (owner_id, name COLLATE carrel.names, id) WHERE deleted_at IS NULL AND folder_id IS NULL;
      CREATE INDEX groups_names_idx ON groups (name COLLATE carrel.names, id);
    `,
  down: () => 'DROP INDEX folders_names_idx, folders_root_names_idx, files_names_idx, files_root_names_idx, groups_names_idx',
};
