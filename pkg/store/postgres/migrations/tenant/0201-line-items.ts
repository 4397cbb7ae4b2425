import type { TenantMigration } from './migration.ts';

/**
 * Ids of ours for the line items that LMSs named, each of a course and of the registration that reaches it. An address is ASCII
 * of at most 2,048.
 */
export const lineItems: TenantMigration = {
  name: '0201-line-items',
  loses: 'The ids of line items that clients know; the LMSs keep the line items.',
  up: () => `
      CREATE TABLE lti_line_items (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT lti_line_items_uuid_key UNIQUE,
        group_id bigint NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        url varchar(2048) NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT lti_line_items_url_key UNIQUE (group_id, tool_id, url)
      );
      CREATE INDEX lti_line_items_tool_id_idx ON lti_line_items (tool_id);
    `,
  down: () => `
      DROP TABLE lti_line_items;
    `,
};
