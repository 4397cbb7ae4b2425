import { quoteIdentifier } from '../../../quoting.ts';
import type { TenantContext } from '../migration.ts';

/** Triggers of statements that keep users.entries. */
const counted = (table: string, does: string): string => `
      CREATE TRIGGER count_new AFTER INSERT ON ${table} REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
      EXECUTE FUNCTION carrel.${does}();
      CREATE TRIGGER count_gone AFTER DELETE ON ${table} REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
      EXECUTE FUNCTION carrel.${does}();`;

/**
 * docs/design/records.md, Folder, File, Version, Grant, Share, tag, metadata. No index on path: 2048 characters are too long for
 * a B-tree.
 *
 * - Deeper folders than `depth` allows are refused. An entry of the GiST index's inner pages holds two whole ancestries: at 100
 *   levels inserting a folder takes half a millisecond; from 150 levels on each entry needs a page of its own, and an insert
 *   takes half a second of CPU (measured).
 * - A statement that sets the revision itself leaves updated_at: what a folder's move or deletion changes below it is not an
 *   update of each file, which would put all of them first in the lists. Their entity tags change with the revision.
 * - What was in a folder when that went to the trash went with it: `trashed_with` is that folder's id, null for what was deleted
 *   by itself. Restoring the folder restores those alone. No foreign key: such a file or folder is below that folder, and is
 *   deleted with it. `expires_at`: when it is deleted for ever.
 * - The indexes with the collation carrel.names give one place in the order of names that people expect (docs/design/lists.md);
 *   the unique ones decide which names are taken.
 */
const FILES = `
      CREATE TABLE folders (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT folders_uuid_key UNIQUE,
        name varchar(255) NOT NULL,
        path varchar(2048) NOT NULL,
        parent_id bigint REFERENCES folders (id) ON DELETE CASCADE,
        owner_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        depth integer NOT NULL DEFAULT 0 CONSTRAINT folders_depth_check CHECK (depth BETWEEN 0 AND 99),
        ancestry ext.ltree NOT NULL,
        is_system boolean NOT NULL DEFAULT false,
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        deleted_at timestamptz(3),
        trashed_with bigint,
        expires_at timestamptz(3)
      );
      CREATE UNIQUE INDEX folders_live_name_key ON folders (parent_id, name) WHERE deleted_at IS NULL AND parent_id IS NOT NULL;
      CREATE UNIQUE INDEX folders_live_root_name_key ON folders (owner_id, name) WHERE deleted_at IS NULL AND parent_id IS NULL;
      CREATE INDEX folders_names_idx ON folders (parent_id, name COLLATE carrel.names, id)
      WHERE deleted_at IS NULL AND parent_id IS NOT NULL;
      CREATE INDEX folders_root_names_idx ON folders (owner_id, name COLLATE carrel.names, id)
      WHERE deleted_at IS NULL AND parent_id IS NULL;
      CREATE INDEX folders_parent_id_idx ON folders (parent_id);
      CREATE INDEX folders_owner_id_idx ON folders (owner_id, updated_at, id);
      CREATE INDEX folders_updated_at_idx ON folders (updated_at, id) WHERE deleted_at IS NULL;
      CREATE INDEX folders_deleted_at_idx ON folders (deleted_at, id) WHERE deleted_at IS NOT NULL;
      CREATE INDEX folders_ancestry_idx ON folders USING gist (ancestry);
      CREATE TRIGGER place BEFORE INSERT ON folders FOR EACH ROW EXECUTE FUNCTION carrel.place_folder();
      CREATE TRIGGER touch BEFORE UPDATE ON folders FOR EACH ROW WHEN (NEW.revision = OLD.revision)
      EXECUTE FUNCTION carrel.touch();
      ${counted('folders', 'count_entries')}
      CREATE TRIGGER audit_insert AFTER INSERT ON folders FOR EACH ROW EXECUTE FUNCTION carrel.audit_folders();
      CREATE TRIGGER audit_update AFTER UPDATE ON folders FOR EACH ROW
        WHEN ((OLD.name, OLD.parent_id, OLD.owner_id, OLD.deleted_at)
          IS DISTINCT FROM (NEW.name, NEW.parent_id, NEW.owner_id, NEW.deleted_at))
        EXECUTE FUNCTION carrel.audit_folders();
      CREATE TRIGGER audit_delete AFTER DELETE ON folders FOR EACH ROW EXECUTE FUNCTION carrel.audit_folders();

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
        name_search text GENERATED ALWAYS AS (carrel.fold(name)) STORED,
        trashed_with bigint,
        expires_at timestamptz(3)
      );
      CREATE UNIQUE INDEX files_live_name_key ON files (folder_id, name) WHERE deleted_at IS NULL AND folder_id IS NOT NULL;
      CREATE UNIQUE INDEX files_live_root_name_key ON files (owner_id, name) WHERE deleted_at IS NULL AND folder_id IS NULL;
      CREATE INDEX files_names_idx ON files (folder_id, name COLLATE carrel.names, id)
      WHERE deleted_at IS NULL AND folder_id IS NOT NULL;
      CREATE INDEX files_root_names_idx ON files (owner_id, name COLLATE carrel.names, id)
      WHERE deleted_at IS NULL AND folder_id IS NULL;
      CREATE INDEX files_folder_id_idx ON files (folder_id, updated_at, id);
      -- Others' files of a folder are read owner by owner in the order of the list, a page at most of each, however many a folder
      -- holds. The pair is one expression, so that no other index gives that order: one that begins with the folder or the owner
      -- looks cheaper to the planner and is read whole.
      CREATE INDEX files_guests_idx ON files ((ARRAY[folder_id, owner_id]), updated_at, id);
      CREATE INDEX files_owner_id_idx ON files (owner_id, updated_at, id);
      CREATE INDEX files_updated_at_idx ON files (updated_at, id) WHERE deleted_at IS NULL;
      CREATE INDEX files_deleted_at_idx ON files (deleted_at, id) WHERE deleted_at IS NOT NULL;
      CREATE INDEX files_name_search_idx ON files USING gin (name_search ext.gin_trgm_ops);
      -- Old versions are looked for among the files that have some.
      CREATE INDEX files_with_versions_idx ON files (id) WHERE version_number > 1;
      CREATE TRIGGER touch BEFORE UPDATE ON files FOR EACH ROW WHEN (NEW.revision = OLD.revision) EXECUTE FUNCTION carrel.touch();
      ${counted('files', 'count_entries')}
      CREATE TRIGGER audit_insert AFTER INSERT ON files FOR EACH ROW EXECUTE FUNCTION carrel.audit_files();
      CREATE TRIGGER audit_update AFTER UPDATE ON files FOR EACH ROW
        WHEN ((OLD.name, OLD.folder_id, OLD.owner_id, OLD.version_number, OLD.mime_type, OLD.deleted_at)
          IS DISTINCT FROM (NEW.name, NEW.folder_id, NEW.owner_id, NEW.version_number, NEW.mime_type, NEW.deleted_at))
        EXECUTE FUNCTION carrel.audit_files();
      CREATE TRIGGER audit_delete AFTER DELETE ON files FOR EACH ROW EXECUTE FUNCTION carrel.audit_files();
`;

/**
 * `is_encrypted`: whether the store encrypts the object at rest, by its own account when it took the bytes. `crc32`, which ZIP
 * archives hold (docs/decisions/files.md); null: not known, and the integrity check fills in those that it reads. The sweep and
 * the integrity check look objects up in the order in which the object store lists its keys (bytes).
 */
const versions = (role: string): string => `
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
        is_encrypted boolean NOT NULL DEFAULT false,
        crc32 bigint CHECK (crc32 BETWEEN 0 AND 4294967295),
        CONSTRAINT file_versions_file_id_version_number_key UNIQUE (file_id, version_number)
      );
      CREATE INDEX file_versions_created_by_idx ON file_versions (created_by);
      CREATE INDEX file_versions_blob_name_idx ON file_versions (blob_name COLLATE "C");
      -- Version records are immutable, except that created_by becomes the system user when its user is deleted, and crc32 is
      -- filled in.
      REVOKE UPDATE ON file_versions FROM ${role};
      GRANT UPDATE (created_by, crc32) ON file_versions TO ${role};
      CREATE TRIGGER count_more AFTER INSERT ON file_versions FOR EACH ROW WHEN (NEW.version_number > 1)
      EXECUTE FUNCTION carrel.count_version();
      CREATE TRIGGER audit_delete AFTER DELETE ON file_versions FOR EACH ROW EXECUTE FUNCTION carrel.audit_file_versions();
`;

/** `granted_through`: the grant that made its giver admin, which it neither exceeds nor outlives; null: of an owner. */
const GRANTS = `
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
        granted_through bigint CONSTRAINT permissions_granted_through_fkey REFERENCES permissions (id) ON DELETE CASCADE,
        CONSTRAINT permissions_grantee_check CHECK (num_nonnulls(user_id, group_id) = 1)
      );
      CREATE INDEX permissions_resource_idx ON permissions (resource_type, resource_id);
      CREATE INDEX permissions_user_id_idx ON permissions (user_id);
      CREATE INDEX permissions_group_id_idx ON permissions (group_id);
      CREATE INDEX permissions_granted_by_idx ON permissions (granted_by);
      CREATE INDEX permissions_granted_through_idx ON permissions (granted_through) WHERE granted_through IS NOT NULL;
      CREATE TRIGGER bound AFTER INSERT ON permissions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
      EXECUTE FUNCTION carrel.bound_grants();
      CREATE TRIGGER bound_grants_through AFTER UPDATE OF permission_level, expires_at ON permissions
        FOR EACH ROW WHEN (NEW.permission_level <> 'admin' OR NEW.expires_at IS NOT NULL)
        EXECUTE FUNCTION carrel.bound_grants_through();
      CREATE TRIGGER audit_insert AFTER INSERT ON permissions FOR EACH ROW EXECUTE FUNCTION carrel.audit_permissions();
      CREATE TRIGGER audit_update AFTER UPDATE ON permissions FOR EACH ROW
        WHEN ((OLD.permission_level, OLD.expires_at) IS DISTINCT FROM (NEW.permission_level, NEW.expires_at))
        EXECUTE FUNCTION carrel.audit_permissions();
      CREATE TRIGGER audit_delete AFTER DELETE ON permissions FOR EACH ROW EXECUTE FUNCTION carrel.audit_permissions();
`;

/**
 * Share links are listed by the time of their creation: of a person, of a file, and all of them. Tags are unique per owner in any
 * case of letters. Keys of metadata are in NFC; it is found by key and value: values are too long for a B-tree, so it is by their
 * hash.
 *
 * image_links: addresses of images that pages of an LMS show: a version of a file, in the name of whoever gave it. `token_hash`
 * is the SHA-256 of what stands in the address. A row, since pages last longer than a data key, by which other links without a
 * session are sealed.
 */
const LINKS_AND_LABELS = `
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
      CREATE INDEX shares_created_by_idx ON shares (created_by, created_at, id);
      CREATE INDEX shares_file_id_idx ON shares (file_id, created_at, id);
      CREATE INDEX shares_created_at_idx ON shares (created_at, id);
      ${counted('shares', 'count_shares')}
      CREATE TRIGGER audit_insert AFTER INSERT ON shares FOR EACH ROW EXECUTE FUNCTION carrel.audit_shares();
      CREATE TRIGGER audit_update AFTER UPDATE ON shares FOR EACH ROW
        WHEN ((OLD.password_hash, OLD.expires_at, OLD.max_downloads, OLD.is_active, OLD.download_count)
          IS DISTINCT FROM (NEW.password_hash, NEW.expires_at, NEW.max_downloads, NEW.is_active, NEW.download_count))
        EXECUTE FUNCTION carrel.audit_shares();
      CREATE TRIGGER audit_delete AFTER DELETE ON shares FOR EACH ROW EXECUTE FUNCTION carrel.audit_shares();

      CREATE TABLE image_links (
        token_hash varchar(64) PRIMARY KEY,
        file_id bigint NOT NULL REFERENCES files (id) ON DELETE CASCADE,
        version_number integer NOT NULL,
        given_by bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX image_links_file_id_idx ON image_links (file_id);
      CREATE INDEX image_links_given_by_idx ON image_links (given_by);

      CREATE TABLE tags (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT tags_uuid_key UNIQUE,
        name varchar(100) NOT NULL,
        color varchar(7),
        owner_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        revision bigint NOT NULL DEFAULT 1,
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE UNIQUE INDEX tags_owner_id_name_key ON tags (owner_id, lower(name));
      CREATE INDEX tags_owner_id_idx ON tags (owner_id);
      CREATE TRIGGER touch BEFORE UPDATE OF name, color ON tags FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      CREATE TRIGGER unlink BEFORE DELETE ON tags FOR EACH ROW EXECUTE FUNCTION carrel.unlink_tag();
      ${counted('tags', 'count_entries')}

      CREATE TABLE file_tags (
        file_id bigint NOT NULL REFERENCES files (id) ON DELETE CASCADE,
        tag_id bigint NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (file_id, tag_id)
      );
      CREATE INDEX file_tags_tag_id_idx ON file_tags (tag_id);
      ${counted('file_tags', 'count_tag_links')}

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
      CREATE INDEX file_metadata_key_value_idx ON file_metadata (key, md5(value), file_id);
      CREATE TRIGGER touch BEFORE UPDATE ON file_metadata FOR EACH ROW EXECUTE FUNCTION carrel.touch();
`;

export const content = ({ role }: TenantContext): string =>
  [FILES, versions(quoteIdentifier(role)), GRANTS, LINKS_AND_LABELS].join('\n');
