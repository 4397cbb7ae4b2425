/**
 * - storage_reservations: the part of a person's quota that uploads in progress have reserved. A row counts until it expires.
 * - partial_uploads: uploads that come in several requests (tus 1.0), and what of them is in the store. `length` null: the client
 *   has not said yet. `received` is the sum of the segments, until `file` is what became of it. An upload outlives its user until
 *   it expires, so that its objects are deleted with it.
 * - exports: archives that jobs have written into the object store, until they expire; `token` is the last part of their link. An
 *   export outlives its user until then. `schedule`: the uuid of the schedule that made it, also once that is deleted. Those that
 *   stay until newer ones replace them expire at `infinity`.
 * - export_uploads: archives that are being written into the object store, part by part; a row goes when its archive is whole or
 *   given up. It outlives its task, so that the parts of one whose requester is deleted are deleted too. `plan` and `renamed` are
 *   packed already.
 */
export const storage = `
      CREATE TABLE storage_reservations (
        id uuid PRIMARY KEY,
        user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        bytes bigint NOT NULL CHECK (bytes >= 0),
        expires_at timestamptz(3) NOT NULL
      );
      CREATE INDEX storage_reservations_user_id_idx ON storage_reservations (user_id);
      CREATE INDEX storage_reservations_expires_at_idx ON storage_reservations (expires_at);
      CREATE TRIGGER limits AFTER INSERT ON storage_reservations FOR EACH ROW WHEN (NEW.bytes > 0)
      EXECUTE FUNCTION carrel.hold_reservations();
      CREATE TRIGGER limits_of_more AFTER UPDATE OF bytes ON storage_reservations FOR EACH ROW WHEN (NEW.bytes > OLD.bytes)
        EXECUTE FUNCTION carrel.hold_reservations();

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

      CREATE TABLE exports (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT exports_uuid_key UNIQUE,
        user_id bigint REFERENCES users (id) ON DELETE SET NULL,
        token varchar(64) NOT NULL CONSTRAINT exports_token_key UNIQUE,
        name varchar(255) NOT NULL,
        key varchar(500) NOT NULL,
        size bigint NOT NULL CHECK (size >= 0),
        checksum varchar(64) NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL,
        schedule uuid
      );
      CREATE INDEX exports_user_id_idx ON exports (user_id);
      CREATE INDEX exports_key_idx ON exports (key COLLATE "C");
      CREATE INDEX exports_expires_at_idx ON exports (expires_at);
      CREATE INDEX exports_schedule_idx ON exports (schedule, id) WHERE schedule IS NOT NULL;

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
`;
