import { quoteIdentifier } from '../../pool.ts';
import type { TenantMigration } from './migration.ts';

/**
 * Deeper folders are refused. An entry of the GiST index's inner pages holds two whole ancestries: at 100 levels inserting a
 * folder takes half a millisecond; from 150 levels on each entry needs a page of its own, and an insert takes half a second of
 * CPU (measured).
 */
export const MAX_FOLDER_DEPTH = 99;

/** docs/design/records.md, Folder, File, Version, Grant. No index on path: 2048 characters are too long for a B-tree. */
export const files: TenantMigration = {
  name: '0002-files',
  loses: 'All folders, files, versions and grants; their objects stay in the bucket.',
  up: ({ role }) => `
      CREATE TABLE folders (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT folders_uuid_key UNIQUE,
        name varchar(255) NOT NULL,
        path varchar(2048) NOT NULL,
        parent_id bigint REFERENCES folders (id) ON DELETE CASCADE,
        owner_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        depth integer NOT NULL DEFAULT 0 CONSTRAINT folders_depth_check CHECK (depth BETWEEN 0 AND ${MAX_FOLDER_DEPTH}),
        ancestry ext.ltree NOT NULL,
        is_system boolean NOT NULL DEFAULT false,
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        deleted_at timestamptz(3)
      );
      CREATE UNIQUE INDEX folders_live_name_key ON folders (parent_id, name) WHERE deleted_at IS NULL AND parent_id IS NOT NULL;
      CREATE UNIQUE INDEX folders_live_root_name_key ON folders (owner_id, name) WHERE deleted_at IS NULL AND parent_id IS NULL;
      CREATE INDEX folders_parent_id_idx ON folders (parent_id);
      CREATE INDEX folders_owner_id_idx ON folders (owner_id, updated_at, id);
      CREATE INDEX folders_updated_at_idx ON folders (updated_at, id) WHERE deleted_at IS NULL;
      CREATE INDEX folders_deleted_at_idx ON folders (deleted_at, id) WHERE deleted_at IS NOT NULL;
      CREATE INDEX folders_ancestry_idx ON folders USING gist (ancestry);
      CREATE TRIGGER place BEFORE INSERT ON folders FOR EACH ROW EXECUTE FUNCTION carrel.place_folder();
      CREATE TRIGGER touch BEFORE UPDATE ON folders FOR EACH ROW EXECUTE FUNCTION carrel.touch();

      CREATE TABLE files (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT files_uuid_key UNIQUE,
        name varchar(255) NOT NULL,
        path varchar(2048) NOT NULL,
        extension varchar(50),
        mime_type varchar(100),
        size bigint NOT NULL DEFAULT 0 CHECK (size >= 0),
        checksum varchar(64),
        owner_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        folder_id bigint REFERENCES folders (id) ON DELETE SET NULL,
        is_directory boolean NOT NULL DEFAULT false,
        is_encrypted boolean NOT NULL DEFAULT false,
        storage_provider varchar(50) NOT NULL DEFAULT 's3',
        blob_container varchar(100),
        blob_name varchar(500),
        version_number integer NOT NULL DEFAULT 1 CHECK (version_number >= 0),
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        deleted_at timestamptz(3),
        name_search text GENERATED ALWAYS AS (carrel.fold(name)) STORED
      );
      CREATE UNIQUE INDEX files_live_name_key ON files (folder_id, name) WHERE deleted_at IS NULL AND folder_id IS NOT NULL;
      CREATE UNIQUE INDEX files_live_root_name_key ON files (owner_id, name) WHERE deleted_at IS NULL AND folder_id IS NULL;
      CREATE INDEX files_folder_id_idx ON files (folder_id, updated_at, id);
      -- Finds other users' files in a user's folders, without reading the user's own files.
      CREATE INDEX files_guests_idx ON files (folder_id, owner_id);
      CREATE INDEX files_owner_id_idx ON files (owner_id, updated_at, id);
      CREATE INDEX files_updated_at_idx ON files (updated_at, id) WHERE deleted_at IS NULL;
      CREATE INDEX files_deleted_at_idx ON files (deleted_at, id) WHERE deleted_at IS NOT NULL;
      CREATE INDEX files_name_search_idx ON files USING gin (name_search ext.gin_trgm_ops);
      CREATE TRIGGER touch BEFORE UPDATE ON files FOR EACH ROW EXECUTE FUNCTION carrel.touch();

      CREATE TABLE file_versions (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        file_id bigint NOT NULL REFERENCES files (id) ON DELETE CASCADE,
        version_number integer NOT NULL CHECK (version_number >= 0),
        size bigint NOT NULL CHECK (size >= 0),
        checksum varchar(64) NOT NULL,
        blob_name varchar(500) NOT NULL,
        comment text,
        created_by bigint NOT NULL REFERENCES users (id),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT file_versions_file_id_version_number_key UNIQUE (file_id, version_number)
      );
      CREATE INDEX file_versions_created_by_idx ON file_versions (created_by);
      -- Version records are immutable, except that created_by becomes the system user when its user is deleted.
      REVOKE UPDATE ON file_versions FROM ${quoteIdentifier(role)};
      GRANT UPDATE (created_by) ON file_versions TO ${quoteIdentifier(role)};

      CREATE TABLE permissions (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT permissions_uuid_key UNIQUE,
        resource_type varchar(10) NOT NULL CHECK (resource_type IN ('file', 'folder')),
        resource_id bigint NOT NULL CHECK (resource_id >= 0),
        user_id bigint REFERENCES users (id) ON DELETE CASCADE,
        group_id bigint REFERENCES groups (id) ON DELETE CASCADE,
        permission_level varchar(10) NOT NULL CHECK (permission_level IN ('read', 'write', 'admin')),
        granted_by bigint NOT NULL REFERENCES users (id),
        granted_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3),
        CONSTRAINT permissions_grantee_check CHECK (num_nonnulls(user_id, group_id) = 1)
      );
      CREATE INDEX permissions_resource_idx ON permissions (resource_type, resource_id);
      CREATE INDEX permissions_user_id_idx ON permissions (user_id);
      CREATE INDEX permissions_group_id_idx ON permissions (group_id);
      CREATE INDEX permissions_granted_by_idx ON permissions (granted_by);
    `,
  down: () => `
      DROP TABLE permissions;
      DROP TABLE file_versions;
      DROP TABLE files;
      DROP TABLE folders;
    `,
};
