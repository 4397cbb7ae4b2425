import type { TenantMigration } from './migration.ts';

/**
 * Archives that jobs have written into the object store, until they expire; `token` is the last part of their link. An export
 * outlives its user until then, so that its object is deleted with it.
 */
export const exportedArchives: TenantMigration = {
  name: '0151-exports',
  loses: 'Exports, their links and jobs; their objects stay in the bucket.',
  up: () => `
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
        expires_at timestamptz(3) NOT NULL
      );
      CREATE INDEX exports_user_id_idx ON exports (user_id);
      CREATE INDEX exports_key_idx ON exports (key COLLATE "C");
      CREATE INDEX exports_expires_at_idx ON exports (expires_at);
    `,
  down: () => `
      DELETE FROM tasks WHERE kind = 'export';
      DROP TABLE exports;
    `,
};
