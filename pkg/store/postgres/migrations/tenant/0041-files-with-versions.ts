import type { TenantMigration } from './migration.ts';

/** Old versions are looked for among the files that have some. */
export const filesWithVersions: TenantMigration = {
  name: '0041-files-with-versions',
  up: () => 'CREATE INDEX files_with_versions_idx ON files (id) WHERE version_number > 1',
  down: () => 'DROP INDEX files_with_versions_idx',
};
