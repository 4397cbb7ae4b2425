import type { Migration } from '../migration.ts';
import { BOUND_GRANTS_THROUGH, END_GRANTS_OF_MEMBER } from '../tenant/0014-grants-through.ts';
import { RESERVE_STORAGE } from '../tenant/0018-storage-reservations.ts';
import { COUNT_STORAGE } from '../tenant/0020-count-storage.ts';
import { storeFilesBody } from '../tenant/0021-store-files.ts';
import { END_PASSWORD_RESET } from '../tenant/0032-sessions-and-resets.ts';
import { BY_INDEX, PURGE_BODIES } from '../tenant/0042-purge-by-index.ts';
import { AUDIT_FUNCTIONS, AUDIT_CHANGES, type AuditFunction, EXPIRE_AUDIT, REFUSED_SIGN_IN } from '../tenant/0045-audit.ts';
import { LTI_FUNCTIONS, UNLESS_RESEALED, WRITE_AUDIT, writeAuditBody } from '../tenant/0048-audit-of-lti.ts';
import { SESSIONS_BODY } from '../tenant/0049-requests-of-launches.ts';

/**
 * Tables are those of `schema`, an expression, until the function ends; pg_temp is last, as migration 0048 of the tenants
 * explains.
 */
const inSchema = (schema: string): string =>
  `PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', ${schema}), true);`;

/**
 * A trigger function of the tables of all tenants. A function with a setting of its own gives up at its end what it sets
 * meanwhile.
 */
const triggerFunction = (name: string, { declared = '', body }: AuditFunction, attributes = ''): string => `
  CREATE FUNCTION carrel.${name}() RETURNS trigger LANGUAGE plpgsql ${attributes} SET search_path = '' AS $$
  ${declared === '' ? '' : `DECLARE ${declared}`}
  BEGIN
    ${inSchema('TG_TABLE_SCHEMA')}
    ${body}
    RETURN NULL;
  END $$;`;

const AUDITED: Readonly<Record<string, AuditFunction>> = {
  ...AUDIT_FUNCTIONS,
  ...LTI_FUNCTIONS,
  sessions: { body: SESSIONS_BODY },
};

/** The trigger functions that a tenant's schema had by itself. */
export const TRIGGER_FUNCTIONS: readonly string[] = [
  ...PURGE_BODIES.map(([name]) => name),
  'bound_grants_through',
  'end_grants_of_member',
  'end_password_reset',
  ...Object.keys(AUDITED).map((table) => `audit_${table}`),
];

/** Called by the functions that run as their owner. */
const INTERNAL = ['write_audit', 'audit_changes', 'role_of_caller'];

/** What a tenant's role calls. */
const OFFERED = ['reserve_storage', 'count_storage', 'store_files', 'expire_audit', 'audit_refused_sign_in'];

/**
 * The functions of tenants' tables, once for all tenants: PostgreSQL reads, for a lookup by name, the functions of that name in
 * all schemas, so that each tenant with its own made every connection and every new tenant dearer (docs/decisions/stores.md). A
 * change that servers of the former release cannot do with is a function of another name.
 *
 * A trigger function takes the schema from its table. What a tenant calls is in the caller's own search path, or, where it runs
 * as its owner, in the schema of the caller's role, which no setting of the caller's changes.
 */
export const functionsOfTenants: Migration<object> = {
  name: '0014-functions-of-tenants',
  up: () => `
      ${PURGE_BODIES.map(([name, body]) => triggerFunction(name, { body }, BY_INDEX)).join('')}
      ${triggerFunction('bound_grants_through', { body: BOUND_GRANTS_THROUGH })}
      ${triggerFunction('end_grants_of_member', { body: END_GRANTS_OF_MEMBER })}
      ${triggerFunction('end_password_reset', { body: END_PASSWORD_RESET })}
      ${Object.entries(AUDITED)
        .map(([table, does]) => triggerFunction(`audit_${table}`, does, 'SECURITY DEFINER'))
        .join('')}

      CREATE FUNCTION carrel.${RESERVE_STORAGE.signature} ${RESERVE_STORAGE.body};
      CREATE FUNCTION carrel.${COUNT_STORAGE.signature} ${COUNT_STORAGE.body};
      -- As JSON, since each tenant's rows of files are of a type of their own.
      CREATE FUNCTION carrel.store_files(uploads jsonb, at timestamptz) RETURNS SETOF jsonb LANGUAGE plpgsql SET lock_timeout = '100ms'
        AS ${storeFilesBody({ withEncryption: true, result: `to_jsonb(f) - 'name_search'` })};

      -- They work in the search path of the function that calls them.
      CREATE FUNCTION carrel.${WRITE_AUDIT} AS ${writeAuditBody(UNLESS_RESEALED)};
      CREATE FUNCTION carrel.${AUDIT_CHANGES};

      -- Whose connection this is, or for whom the worker acts: what a function that runs as its owner finds in no other way.
      CREATE FUNCTION carrel.role_of_caller() RETURNS name LANGUAGE sql STABLE AS $$
        SELECT CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END
      $$;
      CREATE FUNCTION carrel.${EXPIRE_AUDIT.signature} SECURITY DEFINER SET search_path = '' ${EXPIRE_AUDIT.body(inSchema('carrel.role_of_caller()'))};
      CREATE FUNCTION carrel.${REFUSED_SIGN_IN.signature} SECURITY DEFINER SET search_path = '' ${REFUSED_SIGN_IN.body(inSchema('carrel.role_of_caller()'))};

      REVOKE ALL ON FUNCTION ${[...TRIGGER_FUNCTIONS, ...OFFERED, ...INTERNAL].map((name) => `carrel.${name}`).join(', ')} FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION ${OFFERED.map((name) => `carrel.${name}`).join(', ')} TO carrel_tenant;
    `,
  down: () => `DROP FUNCTION ${[...TRIGGER_FUNCTIONS, ...OFFERED, ...INTERNAL].map((name) => `carrel.${name}`).join(', ')}`,
};
