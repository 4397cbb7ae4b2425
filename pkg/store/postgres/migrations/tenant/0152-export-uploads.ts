import type { TenantMigration } from './migration.ts';

/**
 * Archives that are being written into the object store, part by part; a row goes when its archive is whole or given up. It
 * outlives its task, so that the parts of one whose requester is deleted are deleted too. `plan` and `renamed` are packed
 * already.
 */
export const exportUploads: TenantMigration = {
  name: '0152-export-uploads',
  loses: 'How far exports that run have come: they begin anew.',
  up: () => `
      CREATE TABLE export_uploads (
        task uuid PRIMARY KEY,
        key varchar(500) NOT NULL,
        upload_id text NOT NULL,
        name varchar(255) NOT NULL,
        part_bytes bigint NOT NULL CHECK (part_bytes > 0),
        etags text[] NOT NULL DEFAULT '{}',
        sum bytea NOT NULL,
        gone int[] NOT NULL DEFAULT '{}',
        plan bytea NOT NULL,
        renamed bytea NOT NULL
      );
      ALTER TABLE export_uploads ALTER COLUMN plan SET STORAGE EXTERNAL, ALTER COLUMN renamed SET STORAGE EXTERNAL;
    `,
  down: () => 'DROP TABLE export_uploads',
};
