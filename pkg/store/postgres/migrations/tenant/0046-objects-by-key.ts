import type { TenantMigration } from './migration.ts';

/**
 * Versions in the order in which the object store lists its keys (bytes): the sweep and the integrity check look them up by key.
 */
export const objectsByKey: TenantMigration = {
  name: '0046-objects-by-key',
  up: () => 'CREATE INDEX file_versions_blob_name_idx ON file_versions (blob_name COLLATE "C")',
  down: () => 'DROP INDEX file_versions_blob_name_idx',
};
