import type { TenantMigration } from './migration.ts';

export const SYSTEM_USERNAME = 'system';

/**
 * docs/design/records.md, User; docs/design/api-conventions.md, Sign-in and sessions. E-mail and user name are unique without
 * regard to case.
 */
export const people: TenantMigration = {
  name: '0001-people',
  loses: 'All users, sessions and groups.',
  up: ({ tenantId }) => `
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
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE UNIQUE INDEX users_email_key ON users (lower(email));
      CREATE UNIQUE INDEX users_username_key ON users (lower(username));
      CREATE UNIQUE INDEX users_system_key ON users (is_system) WHERE is_system;
      CREATE INDEX users_updated_at_idx ON users (updated_at, id);
      CREATE INDEX users_created_at_idx ON users (created_at, id);
      -- Only changes of these columns make a new revision; counting bytes does not.
      CREATE TRIGGER touch BEFORE UPDATE OF email, username, display_name, password_hash, roles, storage_quota, is_active ON users
        FOR EACH ROW EXECUTE FUNCTION carrel.touch();

      -- Owns course folders and what deleted users leave; cannot sign in.
      INSERT INTO users (uuid, email, username, display_name, roles, is_active, is_system, storage_quota)
        VALUES (gen_random_uuid(), 'system@carrel.invalid', '${SYSTEM_USERNAME}', 'System', '{}', false, true, ${Number.MAX_SAFE_INTEGER});

      CREATE TABLE sessions (
        id uuid PRIMARY KEY,
        user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        launch_id varchar(255),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        last_activity timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL,
        ended_at timestamptz(3)
      );
      CREATE INDEX sessions_user_id_idx ON sessions (user_id);
      CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);

      CREATE TABLE refresh_tokens (
        token_hash varchar(64) PRIMARY KEY,
        session_id uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL,
        used_at timestamptz(3)
      );
      CREATE INDEX refresh_tokens_session_id_idx ON refresh_tokens (session_id);

      CREATE TABLE groups (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT groups_uuid_key UNIQUE,
        name varchar(255) NOT NULL,
        platform_id integer,
        context_id varchar(255),
        created_by bigint NOT NULL REFERENCES users (id),
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT groups_context_key UNIQUE (platform_id, context_id)
      );
      CREATE INDEX groups_created_by_idx ON groups (created_by);
      CREATE TRIGGER touch BEFORE UPDATE ON groups FOR EACH ROW EXECUTE FUNCTION carrel.touch();

      CREATE TABLE group_members (
        group_id bigint NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
        user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        role varchar(20) NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'instructor', 'learner')),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (group_id, user_id)
      );
      CREATE INDEX group_members_user_id_idx ON group_members (user_id);
    `,
  down: () => `
      DROP TABLE group_members;
      DROP TABLE groups;
      DROP TABLE refresh_tokens;
      DROP TABLE sessions;
      DROP TABLE users;
    `,
};
