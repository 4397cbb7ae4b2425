import type { TenantMigration } from './migration.ts';

/**
 * Notices of platforms, each once, until 90 days after it came; and where each deployment of a platform takes our address for
 * them. `reason`: why it did not.
 */
export const notices: TenantMigration = {
  name: '0212-notices',
  loses:
    'Notices of platforms that were not processed; that the platforms have our address for them: the next launch registers it again.',
  up: () => `
      CREATE TABLE lti_notices (
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        notice_id varchar(255) NOT NULL,
        type varchar(100) NOT NULL,
        deployment_id varchar(255) NOT NULL,
        context_id varchar(255),
        origin_ids text[] NOT NULL DEFAULT '{}',
        noticed_at timestamptz(3),
        received_at timestamptz(3) NOT NULL DEFAULT now(),
        processed_at timestamptz(3),
        PRIMARY KEY (tool_id, notice_id)
      );
      CREATE INDEX lti_notices_received_at_idx ON lti_notices (received_at);

      CREATE TABLE lti_notice_handlers (
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        deployment_id varchar(255) NOT NULL,
        service_url varchar(2048) NOT NULL,
        asked_at timestamptz(3) NOT NULL DEFAULT now(),
        registered_at timestamptz(3),
        reason varchar(500),
        attempts integer NOT NULL DEFAULT 0,
        hello_at timestamptz(3),
        PRIMARY KEY (tool_id, deployment_id)
      );
    `,
  down: () => `
      DROP TABLE lti_notice_handlers;
      DROP TABLE lti_notices;
    `,
};
