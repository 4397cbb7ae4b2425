import type { TenantMigration } from './migration.ts';

/**
 * Share links are listed by the time of their creation: of a person, of a file, and all of them. A deep page costs like the
 * first.
 */
export const shareLists: TenantMigration = {
  name: '0038-share-lists',
  up: () => `
      DROP INDEX shares_created_by_idx, shares_file_id_idx;
      CREATE INDEX shares_created_by_idx ON shares (created_by, created_at, id);
      CREATE INDEX shares_file_id_idx ON shares (file_id, created_at, id);
      CREATE INDEX shares_created_at_idx ON shares (created_at, id);
    `,
  down: () => `
      DROP INDEX shares_created_at_idx, shares_file_id_idx, shares_created_by_idx;
      CREATE INDEX shares_created_by_idx ON shares (created_by);
      CREATE INDEX shares_file_id_idx ON shares (file_id);
    `,
};
