import type { TenantMigration } from './migration.ts';

/**
 * Share links of folders, for downloads, uploads or both.
 *
 * - A link is of one file or one folder.
 * - `upload_hour` and `uploads_in_hour`: the uploads by the link in the hour that begins then.
 * - share_uploads: what senders are shown of their own uploads. It names no file, since a sender sees nothing of the folder.
 * - files.uploaded_by: the name that a sender typed; null: the owner's own file.
 * - partial_uploads.share_id has no foreign key: an upload whose link is deleted expires, and its objects are deleted then.
 */
export const folderShares: TenantMigration = {
  name: '0002-folder-shares',
  loses:
    'Share links of folders, with the lists of what was sent by them, and the names of senders; the files that were sent stay.',
  up: () => `
      ALTER TABLE shares ALTER COLUMN file_id DROP NOT NULL;
      ALTER TABLE shares ADD COLUMN folder_id bigint REFERENCES folders (id) ON DELETE CASCADE;
      ALTER TABLE shares ADD COLUMN mode varchar(10) NOT NULL DEFAULT 'download';
      ALTER TABLE shares ADD COLUMN upload_hour timestamptz(3);
      ALTER TABLE shares ADD COLUMN uploads_in_hour integer NOT NULL DEFAULT 0;
      ALTER TABLE shares ADD CONSTRAINT shares_resource_check CHECK (num_nonnulls(file_id, folder_id) = 1);
      ALTER TABLE shares ADD CONSTRAINT shares_mode_check CHECK (mode = 'download' OR mode IN ('upload', 'both')
        AND folder_id IS NOT NULL);
      CREATE INDEX shares_folder_id_idx ON shares (folder_id, created_at, id) WHERE folder_id IS NOT NULL;

      ALTER TABLE files ADD COLUMN uploaded_by varchar(100);

      ALTER TABLE partial_uploads ADD COLUMN share_id bigint;
      ALTER TABLE partial_uploads ADD COLUMN share_session uuid;

      CREATE TABLE share_uploads (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        share_id bigint NOT NULL REFERENCES shares (id) ON DELETE CASCADE,
        session uuid NOT NULL,
        name varchar(255) NOT NULL,
        size bigint NOT NULL CHECK (size >= 0),
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX share_uploads_session_idx ON share_uploads (share_id, session, id);
      CREATE INDEX share_uploads_created_at_idx ON share_uploads (share_id, created_at);
    `,
  down: () => `
      DROP TABLE share_uploads;
      ALTER TABLE partial_uploads DROP COLUMN share_id, DROP COLUMN share_session;
      ALTER TABLE files DROP COLUMN uploaded_by;
      DELETE FROM shares WHERE folder_id IS NOT NULL;
      ALTER TABLE shares DROP COLUMN folder_id, DROP COLUMN mode, DROP COLUMN upload_hour, DROP COLUMN uploads_in_hour;
      ALTER TABLE shares ALTER COLUMN file_id SET NOT NULL;
    `,
};
