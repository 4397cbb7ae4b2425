/**
 * Groups that administrators manage, and courses of an LMS (`platform_id`, `context_id`). Names are unique among the former
 * whatever the case of their letters; two courses may have one title.
 *
 * `lms_title`: what the LMS sent last for a course, so that a change at the LMS is distinguished from one here.
 * `roster_synced_at`: when the reading of the roster began that was taken over last; `roster_asked_at`: when a launch asked for
 * the next one.
 */
export const groups = `
      CREATE TABLE groups (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT groups_uuid_key UNIQUE,
        name varchar(255) NOT NULL,
        platform_id integer REFERENCES lti_platforms (id) ON DELETE SET NULL (platform_id),
        context_id varchar(255),
        created_by bigint NOT NULL REFERENCES users (id),
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        lms_title varchar(255),
        description varchar(1000),
        roster_synced_at timestamptz(3),
        roster_asked_at timestamptz(3),
        CONSTRAINT groups_context_key UNIQUE (platform_id, context_id)
      );
      CREATE UNIQUE INDEX groups_manual_name_key ON groups (lower(name)) WHERE context_id IS NULL;
      CREATE INDEX groups_created_by_idx ON groups (created_by);
      CREATE INDEX groups_name_idx ON groups (lower(name), id);
      CREATE INDEX groups_names_idx ON groups (name COLLATE carrel.names, id);
      -- A creator who is deleted, and a title that the LMS sent and nobody took over, change nothing that is shown.
      CREATE TRIGGER touch BEFORE UPDATE OF name, description ON groups FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      CREATE TRIGGER audit_insert AFTER INSERT ON groups FOR EACH ROW EXECUTE FUNCTION carrel.audit_groups();
      CREATE TRIGGER audit_update AFTER UPDATE ON groups FOR EACH ROW
        WHEN ((OLD.name, OLD.description) IS DISTINCT FROM (NEW.name, NEW.description)) EXECUTE FUNCTION carrel.audit_groups();
      CREATE TRIGGER audit_delete AFTER DELETE ON groups FOR EACH ROW EXECUTE FUNCTION carrel.audit_groups();

      CREATE TABLE group_members (
        group_id bigint NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
        user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        role varchar(20) NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'instructor', 'learner')),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (group_id, user_id)
      );
      CREATE INDEX group_members_user_id_idx ON group_members (user_id);
      CREATE TRIGGER end_grants_of_member AFTER DELETE ON group_members FOR EACH ROW
      EXECUTE FUNCTION carrel.end_grants_of_member();
      CREATE TRIGGER audit_insert AFTER INSERT ON group_members FOR EACH ROW EXECUTE FUNCTION carrel.audit_group_members();
      CREATE TRIGGER audit_delete AFTER DELETE ON group_members FOR EACH ROW EXECUTE FUNCTION carrel.audit_group_members();
`;
