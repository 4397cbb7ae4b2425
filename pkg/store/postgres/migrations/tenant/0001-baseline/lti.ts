/**
 * docs/design/records.md, LTI: LMSs and their registrations, who is whom there, launches and grades.
 *
 * - An LMS is an issuer and a key set: several may share an issuer, and a client id. A client id is one registration's within its
 *   LMS. The unique index is by md5: both addresses as they are would exceed what an index takes.
 * - lti_tool_keys: keys of a tool beside the one that signs its messages (in lti_tools): the next one, with its private key
 *   sealed as lti_tools will hold it, and former ones, which stay published until `published_until`.
 * - `listed_deployments`: which deployments the resource of a registration lists, beside lti_deployments, which has all that may
 *   launch. What becomes of the others: with the policy `Confirm` they wait in lti_deployment_requests until an administrator
 *   admits them, which inserts them into lti_deployments, or refuses them.
 * - `lms_name`, `lms_email` of an identity: what the LMS sent last, so that a change at the LMS is distinguished from one here.
 * - A launch: `platform_url` is where the LMS showed it, the origins that may frame our pages; `return_url` is where the user
 *   returns to (docs/design/lti.md, Frames). `for_user`: whose hand-in it reviews, as the LMS names them. `answered_at`: a deep
 *   linking request is answered once. lti_launches_context_idx gives the last launch of a course.
 * - A grade belongs to a cell of the LMS's grade book: a line item and a user (docs/design/lti.md, Grades). Timestamps differ
 *   within a cell, since an LMS accepts only a newer one. `sent_at` is null as long as the LMS cannot have the grade. One that
 *   was given for a line item, not for a launch, names it in `line_item_id`, and a launch of the course, by whose registration it
 *   is sent.
 * - lti_registration_links: links by which one LMS each registers itself. `token_hash` is the SHA-256 of what stands in the
 *   address. An attempt holds the link until `attempt_until`; with `used_at` it has succeeded, and `issuer`, `jwks_endpoint` and
 *   `client_id` name the registration that came of it.
 */
export const lti = `
      CREATE TABLE lti_platforms (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        issuer varchar(500) NOT NULL,
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
      CREATE UNIQUE INDEX lti_platforms_issuer_jwks_endpoint_key ON lti_platforms (issuer, md5(jwks_endpoint));
      CREATE TRIGGER touch BEFORE UPDATE ON lti_platforms FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      CREATE TRIGGER audit_update AFTER UPDATE ON lti_platforms FOR EACH ROW
        WHEN ((OLD.auth_endpoint, OLD.token_endpoint, OLD.jwks_endpoint, OLD.token_audience, OLD.is_active)
          IS DISTINCT FROM (NEW.auth_endpoint, NEW.token_endpoint, NEW.jwks_endpoint, NEW.token_audience, NEW.is_active))
        EXECUTE FUNCTION carrel.audit_lti_platforms();

      CREATE TABLE lti_tools (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        client_id varchar(255) NOT NULL,
        consumer_key varchar(255) NOT NULL,
        tool_url varchar(500) NOT NULL,
        public_key text,
        private_key text,
        key_id varchar(100),
        scope varchar(255) NOT NULL DEFAULT 'openid',
        platform_id integer REFERENCES lti_platforms (id),
        deep_linking_response_mode varchar(20) NOT NULL DEFAULT 'Query'
          CHECK (deep_linking_response_mode IN ('Query', 'FormPost')),
        is_active boolean NOT NULL DEFAULT true,
        managed_by varchar(50),
        managed_ref varchar(320) CONSTRAINT lti_tools_managed_ref_key UNIQUE,
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        key_since timestamptz(3) NOT NULL DEFAULT now(),
        uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT lti_tools_uuid_key UNIQUE,
        deployment_policy varchar(20) NOT NULL DEFAULT 'Listed' CHECK (deployment_policy IN ('Listed', 'Confirm')),
        listed_deployments text[] NOT NULL DEFAULT '{}',
        CONSTRAINT lti_tools_platform_id_client_id_key UNIQUE (platform_id, client_id)
      );
      CREATE TRIGGER touch BEFORE UPDATE ON lti_tools FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      CREATE TRIGGER audit_insert AFTER INSERT ON lti_tools FOR EACH ROW EXECUTE FUNCTION carrel.audit_lti_tools();
      CREATE TRIGGER audit_update AFTER UPDATE ON lti_tools FOR EACH ROW
        WHEN ((OLD.client_id, OLD.tool_url, OLD.scope, OLD.is_active, OLD.key_id, OLD.platform_id, OLD.deployment_policy,
          OLD.listed_deployments)
          IS DISTINCT FROM
          (NEW.client_id, NEW.tool_url, NEW.scope, NEW.is_active, NEW.key_id, NEW.platform_id, NEW.deployment_policy,
            NEW.listed_deployments))
        EXECUTE FUNCTION carrel.audit_lti_tools();
      CREATE TRIGGER audit_delete AFTER DELETE ON lti_tools FOR EACH ROW EXECUTE FUNCTION carrel.audit_lti_tools();

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

      CREATE TABLE lti_deployments (
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        platform_id integer NOT NULL REFERENCES lti_platforms (id) ON DELETE CASCADE,
        deployment_id varchar(255) NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (tool_id, platform_id, deployment_id)
      );
      CREATE INDEX lti_deployments_platform_id_idx ON lti_deployments (platform_id);

      CREATE TABLE lti_deployment_requests (
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        platform_id integer NOT NULL REFERENCES lti_platforms (id) ON DELETE CASCADE,
        deployment_id varchar(255) NOT NULL,
        status varchar(20) NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'admitted', 'refused')),
        launches bigint NOT NULL DEFAULT 0,
        first_seen_at timestamptz(3),
        last_seen_at timestamptz(3),
        decided_at timestamptz(3),
        PRIMARY KEY (tool_id, platform_id, deployment_id),
        CHECK ((status = 'waiting') = (decided_at IS NULL)),
        CHECK ((first_seen_at IS NULL) = (last_seen_at IS NULL))
      );
      CREATE INDEX lti_deployment_requests_platform_id_idx ON lti_deployment_requests (platform_id);
      CREATE TRIGGER audit_insert AFTER INSERT ON lti_deployment_requests FOR EACH ROW WHEN (NEW.status <> 'waiting')
        EXECUTE FUNCTION carrel.audit_lti_deployment_requests();
      CREATE TRIGGER audit_update AFTER UPDATE ON lti_deployment_requests FOR EACH ROW WHEN (OLD.status <> NEW.status)
        EXECUTE FUNCTION carrel.audit_lti_deployment_requests();

      CREATE TABLE lti_identities (
        platform_id integer NOT NULL REFERENCES lti_platforms (id) ON DELETE CASCADE,
        subject varchar(255) NOT NULL,
        user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        lms_name varchar(255),
        lms_email varchar(255),
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
        expires_at timestamptz(3),
        return_url varchar(2048),
        platform_url varchar(2048),
        context_label varchar(255),
        answered_at timestamptz(3),
        for_user varchar(255)
      );
      CREATE INDEX lti_launches_tool_id_idx ON lti_launches (tool_id);
      CREATE INDEX lti_launches_launched_at_idx ON lti_launches (launched_at, id);
      CREATE INDEX lti_launches_ungraded_idx ON lti_launches (launched_at) WHERE launch_token IS NOT NULL;
      CREATE INDEX lti_launches_context_idx ON lti_launches (platform_id, context_id, id);
      CREATE INDEX lti_launches_person_idx ON lti_launches (platform_id, user_id, id);
      CREATE TRIGGER purge AFTER INSERT ON lti_launches FOR EACH ROW WHEN (NEW.id % 16 = 0)
      EXECUTE FUNCTION carrel.purge_launches();

      CREATE TABLE lti_grades (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        launch_id varchar(255) NOT NULL REFERENCES lti_launches (launch_id) ON DELETE CASCADE,
        user_id varchar(255) NOT NULL,
        score numeric(5, 2) CHECK (score >= 0),
        score_maximum numeric(5, 2) CHECK (score_maximum >= 0),
        comment text,
        timestamp timestamptz(3) NOT NULL DEFAULT now(),
        status varchar(50) NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'submitted', 'failed')),
        uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT lti_grades_uuid_key UNIQUE,
        line_item varchar(2048) NOT NULL DEFAULT '',
        cell varchar(64) NOT NULL DEFAULT '',
        reason varchar(500),
        attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
        sent_at timestamptz(3),
        submitted_at timestamptz(3),
        revision bigint NOT NULL DEFAULT 1,
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        line_item_id uuid,
        CONSTRAINT lti_grades_cell_key UNIQUE (cell, timestamp)
      );
      CREATE INDEX lti_grades_launch_id_idx ON lti_grades (launch_id, timestamp, id);
      CREATE INDEX lti_grades_timestamp_idx ON lti_grades (timestamp, id);
      CREATE TRIGGER touch BEFORE UPDATE ON lti_grades FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      CREATE TRIGGER audit_insert AFTER INSERT ON lti_grades FOR EACH ROW EXECUTE FUNCTION carrel.audit_lti_grades();
      CREATE TRIGGER audit_update AFTER UPDATE ON lti_grades FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status)
        EXECUTE FUNCTION carrel.audit_lti_grades();

      CREATE TABLE lti_registration_links (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT lti_registration_links_uuid_key UNIQUE,
        token_hash varchar(64) NOT NULL CONSTRAINT lti_registration_links_token_hash_key UNIQUE,
        platform_name varchar(255),
        created_by bigint REFERENCES users (id) ON DELETE SET NULL,
        expires_at timestamptz(3) NOT NULL,
        attempt uuid,
        attempt_until timestamptz(3),
        used_at timestamptz(3),
        issuer varchar(500),
        client_id varchar(255),
        registered jsonb,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        jwks_endpoint varchar(500),
        CHECK (used_at IS NULL OR (issuer IS NOT NULL AND client_id IS NOT NULL AND registered IS NOT NULL))
      );
      CREATE INDEX lti_registration_links_created_by_idx ON lti_registration_links (created_by);
      CREATE INDEX lti_registration_links_client_id_idx ON lti_registration_links (client_id, issuer) WHERE client_id IS NOT NULL;
      CREATE TRIGGER audit_insert AFTER INSERT ON lti_registration_links FOR EACH ROW
      EXECUTE FUNCTION carrel.audit_lti_registration_links();
      CREATE TRIGGER audit_update AFTER UPDATE ON lti_registration_links
      FOR EACH ROW WHEN (OLD.used_at IS NULL AND NEW.used_at IS NOT NULL)
        EXECUTE FUNCTION carrel.audit_lti_registration_links();
`;
