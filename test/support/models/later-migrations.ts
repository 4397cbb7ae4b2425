import { tenantMigrations } from '../../../pkg/store/postgres/migrations/tenant/index.ts';
import type { TenantMigration } from '../../../pkg/store/postgres/migrations/tenant/migration.ts';

/**
 * Migrations of a later release: a column that is filled from existing rows, an index, and a table that later rows refer to.
 */
const LATER: readonly TenantMigration[] = [
  {
    name: '9001-initials',
    loses: 'The initials of people.',
    up: () => `
      ALTER TABLE users ADD COLUMN initials varchar(5);
      UPDATE users SET initials = left(username, 1);
    `,
    down: () => 'ALTER TABLE users DROP COLUMN initials',
  },
  {
    name: '9002-users-by-quota',
    up: () => 'CREATE INDEX users_storage_quota_idx ON users (storage_quota)',
    down: () => 'DROP INDEX users_storage_quota_idx',
  },
  {
    name: '9003-badges',
    loses: 'All badges.',
    up: () => `
      CREATE TABLE badges (
        user_id bigint PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
        name varchar(100) NOT NULL
      );
    `,
    down: () => 'DROP TABLE badges',
  },
];

/** The migrations of the next release: this release's and LATER. */
export const NEXT_RELEASE: readonly TenantMigration[] = [...tenantMigrations, ...LATER];
