import { quoteIdentifier } from '../../pool.ts';
import type { AuditFunction } from './0045-audit.ts';
import type { TenantMigration } from './migration.ts';

/**
 * Functions run as their owner. pg_temp stands last: without it Postgres looks there first, and a table of the caller's would
 * take the log's name.
 */
const asOwner = (role: string): string =>
  `LANGUAGE plpgsql SECURITY DEFINER SET search_path = ${quoteIdentifier(role)}, ext, pg_temp`;

/** Sets the search path of all functions of the schema that run as their owner. */
export const withSearchPath = (setting: string): string => `
  DO $do$
  DECLARE
    f regprocedure;
  BEGIN
    FOR f IN SELECT oid FROM pg_proc WHERE prosecdef AND pronamespace = current_schema()::regnamespace LOOP
      EXECUTE format('ALTER FUNCTION %s SET search_path ${setting}', f);
    END LOOP;
  END $do$;`;

export const WRITE_AUDIT =
  'write_audit(action text, target_type text, target_id uuid, target_name text, changes jsonb, origin jsonb DEFAULT NULL) RETURNS void LANGUAGE plpgsql';

/** As in 0045; `unless` leaves before it writes. */
const writeAudit = (unless: string): string => `
  CREATE OR REPLACE FUNCTION ${WRITE_AUDIT} SECURITY DEFINER SET search_path FROM CURRENT AS ${writeAuditBody(unless)};`;

export const writeAuditBody = (unless: string): string => `$$
  DECLARE
    whose jsonb := coalesce(origin, nullif(current_setting('carrel.origin', true), '')::jsonb);
  BEGIN
    ${unless}
    INSERT INTO audit_entries (actor_id, actor_name, is_system, action, target_type, target_id, target_name, ip, request_id, changes)
    SELECT u.uuid, coalesce(u.display_name, u.username), whose IS NULL, write_audit.action, write_audit.target_type, write_audit.target_id,
      write_audit.target_name, left(whose ->> 'ip', 64), left(whose ->> 'request', 255), write_audit.changes
    FROM (VALUES ((whose ->> 'user')::bigint)) AS b (id) LEFT JOIN users u ON u.id = b.id;
  END $$`;

/**
 * A secret under another key is the same secret. Nobody but the operator, who owns this function, can keep an entry from being
 * written so.
 */
export const UNLESS_RESEALED = `IF current_setting('carrel.resealing', true) = 'on' AND pg_has_role(session_user, current_user, 'USAGE') THEN RETURN; END IF;`;

const TOOL = (
  row: 'OLD' | 'NEW',
): string => `jsonb_build_object('client_id', ${row}.client_id, 'tool_url', ${row}.tool_url, 'scope', ${row}.scope,
  'is_active', ${row}.is_active, 'key_id', ${row}.key_id, 'issuer', (SELECT p.issuer FROM lti_platforms p WHERE p.id = ${row}.platform_id))`;
const TOOL_COLUMNS = ['client_id', 'tool_url', 'scope', 'is_active', 'key_id', 'platform_id'];

const PLATFORM_COLUMNS = ['auth_endpoint', 'token_endpoint', 'jwks_endpoint', 'token_audience', 'is_active'];
const PLATFORM = (row: 'OLD' | 'NEW'): string =>
  `jsonb_build_object(${PLATFORM_COLUMNS.map((column) => `'${column === 'is_active' ? 'platform_is_active' : column}', ${row}.${column}`).join(', ')})`;

const changed = (columns: readonly string[]): string =>
  `(${columns.map((column) => `OLD.${column}`).join(', ')}) IS DISTINCT FROM (${columns.map((column) => `NEW.${column}`).join(', ')})`;

/** By table. */
export const LTI_FUNCTIONS = {
  lti_tools: {
    body: `CASE TG_OP
          WHEN 'INSERT' THEN PERFORM write_audit('registration.create', 'registration', NULL, NEW.client_id, audit_changes('{}', ${TOOL('NEW')}));
          WHEN 'UPDATE' THEN PERFORM write_audit('registration.update', 'registration', NULL, NEW.client_id, audit_changes(${TOOL('OLD')}, ${TOOL('NEW')}));
          ELSE PERFORM write_audit('registration.delete', 'registration', NULL, OLD.client_id, '{}');
        END CASE;`,
  },
  // The addresses of an LMS, of which that of its keys decides whom it may sign in: an entry for each registration there.
  lti_platforms: {
    body: `PERFORM write_audit('registration.update', 'registration', NULL, t.client_id, audit_changes(${PLATFORM('OLD')}, ${PLATFORM('NEW')}))
        FROM lti_tools t WHERE t.platform_id = NEW.id;`,
  },
  lti_grades: {
    body: `IF TG_OP = 'INSERT' THEN
          PERFORM write_audit('grade.create', 'grade', NEW.uuid, NULL, audit_changes('{}', jsonb_build_object('launch_id', NEW.launch_id,
            'user_id', NEW.user_id, 'score', NEW.score, 'score_maximum', NEW.score_maximum)));
        ELSE
          PERFORM write_audit('grade.update', 'grade', NEW.uuid, NULL,
            audit_changes(jsonb_build_object('status', OLD.status), jsonb_build_object('status', NEW.status)));
        END IF;`,
  },
} satisfies Readonly<Record<string, AuditFunction>>;

const ltiFunction = (role: string, table: string, { body }: AuditFunction): string => `
  CREATE FUNCTION audit_${table}() RETURNS trigger ${asOwner(role)} AS $$
  BEGIN
    ${body}
    RETURN NULL;
  END $$;`;

export const ltiFunctions = (role: string): string => `
  ${Object.entries(LTI_FUNCTIONS)
    .map(([table, does]) => ltiFunction(role, table, does))
    .join('')}
  REVOKE ALL ON FUNCTION audit_lti_tools, audit_lti_platforms, audit_lti_grades FROM PUBLIC;`;

export const LTI_TRIGGERS = `
      CREATE TRIGGER audit_insert AFTER INSERT ON lti_tools FOR EACH ROW EXECUTE FUNCTION audit_lti_tools();
      CREATE TRIGGER audit_update AFTER UPDATE ON lti_tools FOR EACH ROW WHEN (${changed(TOOL_COLUMNS)}) EXECUTE FUNCTION audit_lti_tools();
      CREATE TRIGGER audit_delete AFTER DELETE ON lti_tools FOR EACH ROW EXECUTE FUNCTION audit_lti_tools();
      CREATE TRIGGER audit_update AFTER UPDATE ON lti_platforms FOR EACH ROW WHEN (${changed(PLATFORM_COLUMNS)}) EXECUTE FUNCTION audit_lti_platforms();
      CREATE TRIGGER audit_insert AFTER INSERT ON lti_grades FOR EACH ROW EXECUTE FUNCTION audit_lti_grades();
      CREATE TRIGGER audit_update AFTER UPDATE ON lti_grades FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION audit_lti_grades();`;

/** Registrations of LMSs and grades have entries too; what is only sealed again has none; the functions look in pg_temp last. */
export const auditOfLti: TenantMigration = {
  name: '0048-audit-of-lti',
  up: ({ role }) => `
      ${writeAudit(UNLESS_RESEALED)}

      ${ltiFunctions(role)}
      ${LTI_TRIGGERS}



      ${withSearchPath(`= ${quoteIdentifier(role)}, ext, pg_temp`)}
    `,
  down: () => `
      DROP TRIGGER audit_insert ON lti_tools;
      DROP TRIGGER audit_update ON lti_tools;
      DROP TRIGGER audit_delete ON lti_tools;
      DROP TRIGGER audit_update ON lti_platforms;
      DROP TRIGGER audit_insert ON lti_grades;
      DROP TRIGGER audit_update ON lti_grades;
      DROP FUNCTION audit_lti_tools, audit_lti_platforms, audit_lti_grades;
      ${writeAudit('')}
      ${withSearchPath('FROM CURRENT')}
    `,
};
