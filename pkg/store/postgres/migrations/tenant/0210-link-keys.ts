import type { TenantMigration } from './migration.ts';

/**
 * The keys that sign the targets of placed links; `secret` is sealed. The newest signs, all verify. A row that is deleted
 * withdraws what its key signed.
 */
export const linkKeys: TenantMigration = {
  name: '0210-link-keys',
  loses: 'The keys that signed the links which teachers placed: none of them opens its file any more.',
  up: () => `
      CREATE TABLE lti_link_keys (
        id varchar(16) PRIMARY KEY,
        secret text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
    `,
  down: () => `
      DROP TABLE lti_link_keys;
    `,
};
