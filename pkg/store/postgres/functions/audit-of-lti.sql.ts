import { auditFunctions, shown } from './audit-entries.ts';
import { AS_OWNER, inSchema, offer } from './function.ts';

/** A tenant that is not migrated yet may lack a column: its entries lack the field then. */
const later = (column: string): string => `to_jsonb($) -> '${column}'`;

const TOOL = {
  client_id: '$.client_id',
  tool_url: '$.tool_url',
  scope: '$.scope',
  is_active: '$.is_active',
  key_id: '$.key_id',
  deployment_policy: later('deployment_policy'),
  deployment_ids: later('listed_deployments'),
  issuer: '(SELECT p.issuer FROM lti_platforms p WHERE p.id = $.platform_id)',
};

const PLATFORM = {
  auth_endpoint: '$.auth_endpoint',
  token_endpoint: '$.token_endpoint',
  jwks_endpoint: '$.jwks_endpoint',
  token_audience: '$.token_audience',
  platform_is_active: '$.is_active',
};

const OF_TABLES = auditFunctions({
  lti_tools: {
    body: `CASE TG_OP
      WHEN 'INSERT' THEN
        PERFORM write_audit('registration.create', 'registration', NULL, NEW.client_id,
          audit_changes('{}', ${shown('NEW', TOOL)}));
      WHEN 'UPDATE' THEN
        PERFORM write_audit('registration.update', 'registration', NULL, NEW.client_id,
          audit_changes(${shown('OLD', TOOL)}, ${shown('NEW', TOOL)}));
      ELSE PERFORM write_audit('registration.delete', 'registration', NULL, OLD.client_id, '{}');
    END CASE;`,
  },
  // The addresses of an LMS, of which that of its keys decides whom it may sign in: an entry for each registration there.
  lti_platforms: {
    body: `PERFORM write_audit('registration.update', 'registration', NULL, t.client_id,
      audit_changes(${shown('OLD', PLATFORM)}, ${shown('NEW', PLATFORM)}))
      FROM lti_tools t WHERE t.platform_id = NEW.id;`,
  },
  lti_grades: {
    body: `IF TG_OP = 'INSERT' THEN
      PERFORM write_audit('grade.create', 'grade', NEW.uuid, NULL,
        audit_changes('{}', jsonb_build_object('launch_id', NEW.launch_id,
        'user_id', NEW.user_id, 'score', NEW.score, 'score_maximum', NEW.score_maximum)));
    ELSE
      PERFORM write_audit('grade.update', 'grade', NEW.uuid, NULL,
        audit_changes(jsonb_build_object('status', OLD.status), jsonb_build_object('status', NEW.status)));
    END IF;`,
  },
  // A copy that an instructor opened is that instructor's doing, though a launch is the system's.
  lti_course_copies: {
    declared: 'of_instructor jsonb;',
    body: `IF NEW.adopted_by IS NOT NULL THEN
      of_instructor := coalesce(nullif(current_setting('carrel.origin', true), '')::jsonb, '{}') - 'system'
        || jsonb_build_object('user', NEW.adopted_by);
    END IF;
    PERFORM write_audit('course.adopt', 'group', g.uuid, coalesce(g.name, NEW.context_id),
      audit_changes('{}', jsonb_build_object('origin_id', o.uuid, 'origin_lms_id', NEW.origin_id)), of_instructor)
    FROM (VALUES (NEW.platform_id)) AS p (id) LEFT JOIN groups g ON g.platform_id = p.id AND g.context_id = NEW.context_id
      LEFT JOIN groups o ON o.platform_id = p.id AND o.context_id = NEW.origin_id;`,
  },
  // No entry has anything of a link's token.
  lti_registration_links: {
    body: `IF TG_OP = 'INSERT' THEN
      PERFORM write_audit('registration_link.create', 'registration_link', NEW.uuid, NEW.platform_name,
        audit_changes('{}', jsonb_build_object('expires_at', NEW.expires_at)));
    ELSE
      PERFORM write_audit('registration_link.use', 'registration_link', NEW.uuid, NEW.platform_name,
        audit_changes('{}', jsonb_build_object('issuer', NEW.issuer, 'client_id', NEW.client_id)));
    END IF;`,
  },
  lti_deployment_requests: {
    body: `
      PERFORM write_audit(CASE NEW.status WHEN 'admitted' THEN 'deployment.admit' ELSE 'deployment.refuse' END, 'registration',
        t.uuid, t.client_id,
      audit_changes('{}', jsonb_build_object('deployment_id', NEW.deployment_id)))
    FROM lti_tools t WHERE t.id = NEW.tool_id;`,
  },
});

/** Servers call it: a line item is the LMS's, so that no row of ours changes with it. */
const OF_LINE_ITEMS = `
  CREATE OR REPLACE FUNCTION carrel.audit_line_item(what text, line_item uuid, label text, before jsonb, after jsonb,
    origin jsonb) RETURNS void
    LANGUAGE plpgsql ${AS_OWNER} SET search_path = '' AS $$
  BEGIN
    IF what NOT IN ('create', 'update', 'delete') THEN RAISE 'no change of a line item: %', what; END IF;
    ${inSchema('carrel.role_of_caller()')}
    PERFORM write_audit('line_item.' || what, 'line_item', line_item, coalesce(audit_line_item.label, (
      SELECT e.target_name FROM audit_entries e WHERE e.target_id = line_item ORDER BY e.at DESC, e.id DESC LIMIT 1)),
      audit_changes(before, after), audit_line_item.origin);
  END $$;
  ${offer('carrel_tenant', 'audit_line_item')}
`;

/** Registrations, LMSs, grades and courses. */
export const auditOfLti = [OF_TABLES, OF_LINE_ITEMS].join('\n');
