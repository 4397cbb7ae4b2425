import type { TenantMigration } from './migration.ts';

/** docs/design/records.md, Share, tag, metadata. */
export const shares: TenantMigration = {
  name: '0003-shares',
  loses: 'All share links, tags and metadata.',
  up: () => `
      CREATE TABLE shares (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT shares_uuid_key UNIQUE,
        token varchar(64) NOT NULL CONSTRAINT shares_token_key UNIQUE CHECK (length(token) = 64),
        file_id bigint NOT NULL REFERENCES files (id) ON DELETE CASCADE,
        created_by bigint NOT NULL REFERENCES users (id),
        password_hash varchar(255),
        expires_at timestamptz(3),
        max_downloads integer CHECK (max_downloads >= 0),
        download_count integer NOT NULL DEFAULT 0 CHECK (download_count >= 0),
        is_active boolean NOT NULL DEFAULT true,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX shares_file_id_idx ON shares (file_id);
      CREATE INDEX shares_created_by_idx ON shares (created_by);

      CREATE TABLE tags (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT tags_uuid_key UNIQUE,
        name varchar(100) NOT NULL,
        color varchar(7),
        owner_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT tags_name_owner_id_key UNIQUE (name, owner_id)
      );
      CREATE INDEX tags_owner_id_idx ON tags (owner_id);

      CREATE TABLE file_tags (
        file_id bigint NOT NULL REFERENCES files (id) ON DELETE CASCADE,
        tag_id bigint NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (file_id, tag_id)
      );
      CREATE INDEX file_tags_tag_id_idx ON file_tags (tag_id);

      CREATE TABLE file_metadata (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        file_id bigint NOT NULL REFERENCES files (id) ON DELETE CASCADE,
        key varchar(100) NOT NULL,
        value text,
        value_type varchar(10) NOT NULL DEFAULT 'string' CHECK (value_type IN ('string', 'number', 'boolean', 'json')),
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT file_metadata_file_id_key_key UNIQUE (file_id, key)
      );
      CREATE TRIGGER touch BEFORE UPDATE ON file_metadata FOR EACH ROW EXECUTE FUNCTION carrel.touch();
    `,
  down: () => `
      DROP TABLE file_metadata;
      DROP TABLE file_tags;
      DROP TABLE tags;
      DROP TABLE shares;
    `,
};
