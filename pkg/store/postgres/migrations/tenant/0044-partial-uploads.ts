import type { TenantMigration } from './migration.ts';

/**
 * Uploads that come in several requests (tus 1.0), and what of them is in the store. `length` null: the client has not said yet.
 * `received` is the sum of the segments, until `file` is what became of it. An upload outlives its user until it expires, so that
 * its objects are deleted with it.
 */
export const partialUploads: TenantMigration = {
  name: '0044-partial-uploads',
  loses: 'Uploads in several requests that are not complete; their objects stay in the bucket.',
  up: () => `
      CREATE TABLE partial_uploads (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT partial_uploads_uuid_key UNIQUE,
        user_id bigint REFERENCES users (id) ON DELETE SET NULL,
        length bigint CHECK (length >= 0),
        received bigint NOT NULL DEFAULT 0 CHECK (received >= 0 AND received <= coalesce(length, received)),
        metadata varchar(8192) NOT NULL,
        file uuid,
        expires_at timestamptz(3) NOT NULL
      );
      CREATE INDEX partial_uploads_user_id_idx ON partial_uploads (user_id);
      CREATE INDEX partial_uploads_expires_at_idx ON partial_uploads (expires_at);

      CREATE TABLE partial_upload_segments (
        upload_id bigint NOT NULL REFERENCES partial_uploads (id) ON DELETE CASCADE,
        number integer NOT NULL,
        key varchar(500) NOT NULL,
        size bigint NOT NULL CHECK (size > 0),
        PRIMARY KEY (upload_id, number)
      );
      CREATE INDEX partial_upload_segments_key_idx ON partial_upload_segments (key);
    `,
  down: () => `
      DROP TABLE partial_upload_segments;
      DROP TABLE partial_uploads;
    `,
};
