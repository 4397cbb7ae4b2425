import type { Migration } from '../migration.ts';

const IN_SCHEMA = (schema: string): string =>
  `PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', ${schema}), true);`;

/**
 * The entries of the audit log for copies of courses and for links of Dynamic Registration, by triggers (migration 0220 of the
 * tenants), and for line items, by a function that servers call: those are the LMS's, so that no row of ours changes with them.
 *
 * A copy that an instructor opened is that instructor's doing, though a launch is the system's. No entry has anything of a link's
 * token.
 */
export const auditOfCourses: Migration<object> = {
  name: '0210-audit-of-courses',
  up: () => `
      CREATE FUNCTION carrel.audit_lti_course_copies() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
      DECLARE
        of_instructor jsonb;
      BEGIN
        ${IN_SCHEMA('TG_TABLE_SCHEMA')}
        IF NEW.adopted_by IS NOT NULL THEN
          of_instructor := coalesce(nullif(current_setting('carrel.origin', true), '')::jsonb, '{}') - 'system' || jsonb_build_object('user', NEW.adopted_by);
        END IF;
        PERFORM write_audit('course.adopt', 'group', g.uuid, coalesce(g.name, NEW.context_id),
          audit_changes('{}', jsonb_build_object('origin_id', o.uuid, 'origin_lms_id', NEW.origin_id)), of_instructor)
        FROM (VALUES (NEW.platform_id)) AS p (id) LEFT JOIN groups g ON g.platform_id = p.id AND g.context_id = NEW.context_id
          LEFT JOIN groups o ON o.platform_id = p.id AND o.context_id = NEW.origin_id;
        RETURN NULL;
      END $$;

      CREATE FUNCTION carrel.audit_lti_registration_links() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
      BEGIN
        ${IN_SCHEMA('TG_TABLE_SCHEMA')}
        IF TG_OP = 'INSERT' THEN
          PERFORM write_audit('registration_link.create', 'registration_link', NEW.uuid, NEW.platform_name,
            audit_changes('{}', jsonb_build_object('expires_at', NEW.expires_at)));
        ELSE
          PERFORM write_audit('registration_link.use', 'registration_link', NEW.uuid, NEW.platform_name,
            audit_changes('{}', jsonb_build_object('issuer', NEW.issuer, 'client_id', NEW.client_id)));
        END IF;
        RETURN NULL;
      END $$;

      CREATE FUNCTION carrel.audit_line_item(what text, line_item uuid, label text, before jsonb, after jsonb, origin jsonb) RETURNS void LANGUAGE plpgsql
        SECURITY DEFINER SET search_path = '' AS $$
      BEGIN
        IF what NOT IN ('create', 'update', 'delete') THEN RAISE 'no change of a line item: %', what; END IF;
        ${IN_SCHEMA('carrel.role_of_caller()')}
        PERFORM write_audit('line_item.' || what, 'line_item', line_item, coalesce(audit_line_item.label, (
          SELECT e.target_name FROM audit_entries e WHERE e.target_id = line_item ORDER BY e.at DESC, e.id DESC LIMIT 1)),
          audit_changes(before, after), audit_line_item.origin);
      END $$;

      REVOKE ALL ON FUNCTION carrel.audit_lti_course_copies, carrel.audit_lti_registration_links, carrel.audit_line_item FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION carrel.audit_line_item TO carrel_tenant;
    `,
  down: () => 'DROP FUNCTION carrel.audit_lti_course_copies, carrel.audit_lti_registration_links, carrel.audit_line_item;',
};
