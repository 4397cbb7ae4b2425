/**
 * Tables of LMS courses (docs/design/lti.md).
 *
 * - lti_line_items: ids of ours for the line items that LMSs named, each of a course and of the registration that reaches it.
 *   An address is ASCII of at most 2,048. lti_line_item_changes: changes that an LMS is being asked for. Each goes with its
 *   entry in the audit log when the LMS has answered; what is left has an entry that says that the outcome is unknown
 *   (pkg/lti/line-items).
 * - lti_members: the people of a course as the LMS says, by its roster or by their launches; an account here is another thing
 *   (lti_identities). `is_active` false: has left. `source`: what says that they are in the course. lti_roster_entries is what
 *   a job has read of a roster that is not taken over yet: of one person perhaps several entries.
 * - lti_link_keys: the keys that sign the targets of placed links; `secret` is sealed. The newest signs, all verify. A row that
 *   is deleted withdraws what its key signed.
 * - lti_resource_links: links as the last launch of each had them. A link is one of a registration's deployment, in a context
 *   ('' where it has none). `target` is the custom parameter as the LMS sent it; `file_uuid`, `maker_uuid` and `course_uuid`
 *   are what it names, where key `key_id` signed it. They are no foreign keys: the page says what became of a file that is
 *   gone.
 * - lti_course_copies: which course is a copy of which. `adopted_by` is the instructor of both courses who opened it; null: the
 *   platform said so, or that person is gone.
 * - lti_notices: notices of platforms, each once, until 90 days after it came. lti_notice_handlers: where each deployment of a
 *   platform takes our address for them. `reason`: why it did not.
 * - lti_hand_ins: what people have handed in: a version of a file, by the link that they handed it in at. A registration may
 *   come to name another LMS, whose courses and links have ids of their own: a hand-in is one at the LMS that it was handed in
 *   at.
 */
export const courses = `
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

      CREATE TABLE lti_line_item_changes (
        id uuid PRIMARY KEY,
        what varchar(10) NOT NULL CHECK (what IN ('create', 'update', 'delete')),
        line_item uuid,
        label text,
        before jsonb NOT NULL,
        after jsonb NOT NULL,
        origin jsonb,
        asked_at timestamptz(3) NOT NULL DEFAULT now()
      );

      CREATE TABLE lti_members (
        group_id bigint NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
        subject varchar(255) NOT NULL,
        name varchar(255),
        email varchar(255),
        roles text[] NOT NULL,
        role varchar(10) NOT NULL CHECK (role IN ('instructor', 'learner')),
        is_active boolean NOT NULL DEFAULT true,
        source varchar(10) NOT NULL CHECK (source IN ('launch', 'roster')),
        PRIMARY KEY (group_id, subject)
      );
      CREATE INDEX lti_members_name_idx ON lti_members (group_id, (coalesce(name, '')) COLLATE carrel.names, subject);

      CREATE TABLE lti_roster_entries (
        task_id bigint NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
        subject varchar(255) NOT NULL,
        name varchar(255),
        email varchar(255),
        roles text[] NOT NULL,
        role varchar(10) NOT NULL,
        is_active boolean NOT NULL,
        PRIMARY KEY (task_id, subject, is_active, role)
      );

      CREATE TABLE lti_link_keys (
        id varchar(16) PRIMARY KEY,
        secret text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );

      CREATE TABLE lti_resource_links (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        deployment_id varchar(255) NOT NULL,
        context_id varchar(255) NOT NULL,
        resource_link_id varchar(255) NOT NULL,
        title varchar(255),
        target varchar(200),
        fault varchar(30),
        key_id varchar(16) REFERENCES lti_link_keys (id) ON DELETE SET NULL,
        file_uuid uuid,
        maker_uuid uuid,
        course_uuid uuid,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT lti_resource_links_key UNIQUE (tool_id, deployment_id, context_id, resource_link_id)
      );
      CREATE INDEX lti_resource_links_key_id_idx ON lti_resource_links (key_id);

      CREATE TABLE lti_course_copies (
        platform_id integer NOT NULL REFERENCES lti_platforms (id) ON DELETE CASCADE,
        context_id varchar(255) NOT NULL,
        origin_id varchar(255) NOT NULL,
        adopted_by bigint REFERENCES users (id) ON DELETE SET NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (platform_id, context_id, origin_id)
      );
      CREATE INDEX lti_course_copies_adopted_by_idx ON lti_course_copies (adopted_by);
      CREATE TRIGGER audit_insert AFTER INSERT ON lti_course_copies FOR EACH ROW
      EXECUTE FUNCTION carrel.audit_lti_course_copies();

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

      CREATE TABLE lti_hand_ins (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT lti_hand_ins_uuid_key UNIQUE,
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        deployment_id varchar(255) NOT NULL,
        context_id varchar(255) NOT NULL,
        resource_link_id varchar(255) NOT NULL,
        line_item varchar(2048),
        user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        file_uuid uuid NOT NULL,
        version integer NOT NULL,
        handed_in_at timestamptz(3) NOT NULL,
        platform_id integer NOT NULL REFERENCES lti_platforms (id) ON DELETE CASCADE
      );
      CREATE INDEX lti_hand_ins_user_idx ON lti_hand_ins (user_id, tool_id, context_id, id);
      CREATE INDEX lti_hand_ins_tool_id_idx ON lti_hand_ins (tool_id);
      CREATE INDEX lti_hand_ins_platform_id_idx ON lti_hand_ins (platform_id);
`;
