import type { TenantMigration } from './migration.ts';

/** docs/design/records.md, LTI. */
export const lti: TenantMigration = {
  name: '0004-lti',
  loses:
    'All registrations, deployments, launches and grades, and who is whom at an LMS; groups of courses no longer know their LMS.',
  up: () => `
      CREATE TABLE lti_platforms (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        issuer varchar(500) NOT NULL CONSTRAINT lti_platforms_issuer_key UNIQUE,
        auth_endpoint varchar(500) NOT NULL,
        token_endpoint varchar(500) NOT NULL,
        jwks_endpoint varchar(500) NOT NULL,
        platform_name varchar(255),
        token_audience varchar(500),
        frame_ancestors text[] NOT NULL DEFAULT '{}',
        is_active boolean NOT NULL DEFAULT true,
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE TRIGGER touch BEFORE UPDATE ON lti_platforms FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      ALTER TABLE groups ADD CONSTRAINT groups_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES lti_platforms (id) ON DELETE SET NULL (platform_id);

      CREATE TABLE lti_tools (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        client_id varchar(255) NOT NULL CONSTRAINT lti_tools_client_id_key UNIQUE,
        consumer_key varchar(255) NOT NULL,
        tool_url varchar(500) NOT NULL,
        public_key text,
        private_key text,
        key_id varchar(100),
        scope varchar(255) NOT NULL DEFAULT 'openid',
        platform_id integer REFERENCES lti_platforms (id),
        deep_linking_response_mode varchar(20) NOT NULL DEFAULT 'Query' CHECK (deep_linking_response_mode IN ('Query', 'FormPost')),
        is_active boolean NOT NULL DEFAULT true,
        managed_by varchar(50),
        managed_ref varchar(320) CONSTRAINT lti_tools_managed_ref_key UNIQUE,
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX lti_tools_platform_id_idx ON lti_tools (platform_id);
      CREATE TRIGGER touch BEFORE UPDATE ON lti_tools FOR EACH ROW EXECUTE FUNCTION carrel.touch();

      CREATE TABLE lti_deployments (
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        platform_id integer NOT NULL REFERENCES lti_platforms (id) ON DELETE CASCADE,
        deployment_id varchar(255) NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (tool_id, platform_id, deployment_id)
      );
      CREATE INDEX lti_deployments_platform_id_idx ON lti_deployments (platform_id);

      CREATE TABLE lti_identities (
        platform_id integer NOT NULL REFERENCES lti_platforms (id) ON DELETE CASCADE,
        subject varchar(255) NOT NULL,
        user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (platform_id, subject)
      );
      CREATE INDEX lti_identities_user_id_idx ON lti_identities (user_id);

      CREATE TABLE lti_launches (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        launch_id varchar(255) NOT NULL CONSTRAINT lti_launches_launch_id_key UNIQUE,
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        platform_id integer NOT NULL REFERENCES lti_platforms (id) ON DELETE CASCADE,
        user_id varchar(255),
        context_id varchar(255),
        resource_link_id varchar(255),
        deployment_id varchar(255),
        launch_token text,
        state_token varchar(255) CONSTRAINT lti_launches_state_token_key UNIQUE,
        nonce varchar(255) CONSTRAINT lti_launches_nonce_key UNIQUE,
        roles text[] NOT NULL DEFAULT '{}',
        ags_lineitems_url varchar(2048),
        ags_lineitem_url varchar(2048),
        ags_scopes text[] NOT NULL DEFAULT '{}',
        nrps_url varchar(2048),
        launched_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3)
      );
      CREATE INDEX lti_launches_tool_id_idx ON lti_launches (tool_id);
      CREATE INDEX lti_launches_platform_id_idx ON lti_launches (platform_id);
      CREATE INDEX lti_launches_launched_at_idx ON lti_launches (launched_at, id);

      CREATE TABLE lti_grades (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        launch_id varchar(255) NOT NULL REFERENCES lti_launches (launch_id) ON DELETE CASCADE,
        user_id varchar(255) NOT NULL,
        score numeric(5, 2) CHECK (score >= 0),
        score_maximum numeric(5, 2) CHECK (score_maximum >= 0),
        comment text,
        timestamp timestamptz(3) NOT NULL DEFAULT now(),
        status varchar(50) NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'submitted', 'failed'))
      );
      CREATE INDEX lti_grades_launch_id_idx ON lti_grades (launch_id);
    `,
  down: () => `
      DROP TABLE lti_grades;
      DROP TABLE lti_launches;
      DROP TABLE lti_identities;
      DROP TABLE lti_deployments;
      DROP TABLE lti_tools;
      ALTER TABLE groups DROP CONSTRAINT groups_platform_id_fkey;
      -- As the deletion of an LMS does; a number of no LMS would fit none that comes later.
      UPDATE groups SET platform_id = NULL WHERE platform_id IS NOT NULL;
      DROP TABLE lti_platforms;
    `,
};
