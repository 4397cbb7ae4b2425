import type { TenantMigration } from './migration.ts';

/**
 * Keys of a tool beside the one that signs its messages (in lti_tools): the next one, with its private key sealed as lti_tools
 * will hold it, and former ones, which stay published until `published_until`.
 */
export const toolKeys: TenantMigration = {
  name: '0009-tool-keys',
  loses: 'The next and the former signing keys of registrations.',
  up: () => `
      ALTER TABLE lti_tools ADD COLUMN key_since timestamptz(3) NOT NULL DEFAULT now();
      CREATE TABLE lti_tool_keys (
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        key_id varchar(100) NOT NULL,
        public_key text NOT NULL,
        private_key text,
        published_at timestamptz(3) NOT NULL,
        published_until timestamptz(3),
        PRIMARY KEY (tool_id, key_id),
        CHECK ((private_key IS NULL) = (published_until IS NOT NULL))
      );
      CREATE UNIQUE INDEX lti_tool_keys_next_key ON lti_tool_keys (tool_id) WHERE private_key IS NOT NULL;
    `,
  down: () => `
      DROP TABLE lti_tool_keys;
      ALTER TABLE lti_tools DROP COLUMN key_since;
    `,
};
