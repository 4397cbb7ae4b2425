import type { TenantContext } from '../migration.ts';

const USER_LIMITS = `NOT NEW.is_system AND (NEW.storage_used > OLD.storage_used OR NEW.entries > OLD.entries)
          AND current_setting('carrel.recounting', true) IS DISTINCT FROM 'on'`;

/**
 * docs/design/records.md, User; docs/design/api-conventions.md, Sign-in and sessions. E-mail and user name are unique without
 * regard to case.
 *
 * - `email` is the account's own, and only administrators set it; `contact_email` is the address that an LMS sent last.
 *   `provisioned_as`: the address for which the operator made this account.
 * - `entries`: files, folders and what belongs to them that somebody owns, kept by triggers. Metadata count in `storage_used`.
 * - Whoever counts again what is there, with `carrel.recounting` on in their transaction, is not refused by limits. A tenant's
 *   role may set that too, and may count less than there is anyway: what bounds it is the size of its tables.
 * - `capped_to` of a session: the only roles that it may have; null: all of its account's. `ip`, `user_agent`: from where it was
 *   opened, so that its owner recognizes it.
 * - One outstanding reset of a person's password: another replaces it.
 */
export const people = ({ tenantId }: TenantContext): string => `
      CREATE TABLE users (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT users_uuid_key UNIQUE,
        email varchar(255) NOT NULL,
        username varchar(100) NOT NULL,
        display_name varchar(255),
        password_hash varchar(255),
        roles text[] NOT NULL DEFAULT '{member}' CHECK (roles <@ ARRAY['admin', 'instructor', 'member', 'viewer']),
        tenant_id bigint DEFAULT ${BigInt(tenantId)} CHECK (tenant_id >= 0),
        storage_quota bigint NOT NULL DEFAULT 10737418240 CHECK (storage_quota >= 0),
        storage_used bigint NOT NULL DEFAULT 0 CHECK (storage_used >= 0),
        is_active boolean NOT NULL DEFAULT true,
        is_system boolean NOT NULL DEFAULT false,
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        contact_email varchar(255),
        provisioned_as varchar(255),
        entries bigint NOT NULL DEFAULT 0 CHECK (entries >= 0)
      );
      CREATE UNIQUE INDEX users_email_key ON users (lower(email));
      CREATE UNIQUE INDEX users_username_key ON users (lower(username));
      CREATE UNIQUE INDEX users_provisioned_as_key ON users (lower(provisioned_as));
      CREATE UNIQUE INDEX users_system_key ON users (is_system) WHERE is_system;
      CREATE INDEX users_updated_at_idx ON users (updated_at, id);
      CREATE INDEX users_created_at_idx ON users (created_at, id);

      -- Owns course folders and what deleted users leave; cannot sign in. The audit log, whose triggers come below, has no entry
      -- of it.
      INSERT INTO users (uuid, email, username, display_name, roles, is_active, is_system, storage_quota)
        VALUES (gen_random_uuid(), 'system@carrel.invalid', 'system', 'System', '{}', false, true, ${Number.MAX_SAFE_INTEGER});

      -- Only changes of these columns make a new revision; counting bytes does not.
      CREATE TRIGGER touch
        BEFORE UPDATE OF email, username, display_name, contact_email, password_hash, roles, storage_quota, is_active ON users
        FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      CREATE TRIGGER limits BEFORE UPDATE OF storage_used, entries ON users FOR EACH ROW WHEN (${USER_LIMITS})
        EXECUTE FUNCTION carrel.hold_limits();
      CREATE TRIGGER end_password_reset AFTER UPDATE OF password_hash ON users
        FOR EACH ROW WHEN (OLD.password_hash IS DISTINCT FROM NEW.password_hash) EXECUTE FUNCTION carrel.end_password_reset();
      CREATE TRIGGER audit_insert AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION carrel.audit_users();
      CREATE TRIGGER audit_update AFTER UPDATE ON users FOR EACH ROW
        WHEN ((OLD.email, OLD.username, OLD.display_name, OLD.roles, OLD.storage_quota, OLD.is_active, OLD.password_hash)
          IS DISTINCT FROM (NEW.email, NEW.username, NEW.display_name, NEW.roles, NEW.storage_quota, NEW.is_active,
            NEW.password_hash))
        EXECUTE FUNCTION carrel.audit_users();
      CREATE TRIGGER audit_delete AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION carrel.audit_users();

      CREATE TABLE sessions (
        id uuid PRIMARY KEY,
        user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        launch_id varchar(255),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        last_activity timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL,
        ended_at timestamptz(3),
        capped_to text[] CHECK (capped_to <@ ARRAY['instructor', 'member', 'viewer']),
        ip varchar(64),
        user_agent varchar(500)
      );
      CREATE INDEX sessions_user_id_idx ON sessions (user_id);
      CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);
      CREATE TRIGGER purge AFTER INSERT ON sessions FOR EACH ROW WHEN (NEW.id::text LIKE '0%')
      EXECUTE FUNCTION carrel.purge_sessions();
      CREATE TRIGGER audit_insert AFTER INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION carrel.audit_sessions();
      CREATE TRIGGER audit_update AFTER UPDATE ON sessions FOR EACH ROW WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
        EXECUTE FUNCTION carrel.audit_sessions();

      CREATE TABLE refresh_tokens (
        token_hash varchar(64) PRIMARY KEY,
        session_id uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL,
        used_at timestamptz(3)
      );
      CREATE INDEX refresh_tokens_session_id_idx ON refresh_tokens (session_id);
      CREATE INDEX refresh_tokens_expires_at_idx ON refresh_tokens (expires_at);
      CREATE TRIGGER purge AFTER INSERT ON refresh_tokens FOR EACH ROW WHEN (NEW.token_hash LIKE '0%')
        EXECUTE FUNCTION carrel.purge_refresh_tokens();

      CREATE TABLE password_resets (
        user_id bigint PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
        token_hash varchar(64) NOT NULL CONSTRAINT password_resets_token_hash_key UNIQUE,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL
      );
      CREATE TRIGGER audit_insert AFTER INSERT ON password_resets FOR EACH ROW EXECUTE FUNCTION carrel.audit_password_resets();
      CREATE TRIGGER audit_update AFTER UPDATE ON password_resets
      FOR EACH ROW WHEN (OLD.token_hash IS DISTINCT FROM NEW.token_hash)
        EXECUTE FUNCTION carrel.audit_password_resets();
`;
