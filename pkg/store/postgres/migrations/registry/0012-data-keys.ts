import type { Migration } from '../migration.ts';

/** The data key of a tenant is replaced too, and how often each credential has been. */
export const dataKeys: Migration<object> = {
  name: '0012-data-keys',
  loses:
    'Which data keys were replaced: the servers of these tenants cannot open webhook secrets and registration keys any more.',
  up: () => `
      ALTER TABLE registry.credentials
        ADD COLUMN generation integer NOT NULL DEFAULT 0,
        DROP CONSTRAINT credentials_name_check,
        ADD CONSTRAINT credentials_name_check CHECK (name IN ('database', 'redis', 'storage', 'signing', 'data'));
    `,
  down: () => `
      DELETE FROM registry.credentials WHERE name = 'data';
      ALTER TABLE registry.credentials
        DROP COLUMN generation,
        DROP CONSTRAINT credentials_name_check,
        ADD CONSTRAINT credentials_name_check CHECK (name IN ('database', 'redis', 'storage', 'signing'));
    `,
};
