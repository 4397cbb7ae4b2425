/** The declarations and the statements of a function. */
export interface FunctionBody {
  readonly declared?: string;
  readonly body: string;
}

/**
 * A connection plans a function's statements once, and a plan that was made while the tables were small reads whole tables. With
 * this the planner finds rows by their index.
 */
export const BY_INDEX = 'SET enable_seqscan = off SET enable_bitmapscan = off';

/** Runs as its owner, the operator, so that the caller's role needs no right of its own. */
export const AS_OWNER = 'SECURITY DEFINER';

/**
 * Tables are those of `schema`, an expression, until the function ends. A function with a setting of its own gives up at its end
 * what it sets meanwhile. pg_temp stands last: without it Postgres looks there first, and a table of the caller's would take the
 * name of one of ours.
 */
export const inSchema = (schema: string): string =>
  `PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', ${schema}), true);`;

/** A trigger function of the tables of all tenants; `attributes` as in CREATE FUNCTION. */
export const triggerFunction = (name: string, { declared = '', body }: FunctionBody, attributes = ''): string => `
  CREATE OR REPLACE FUNCTION carrel.${name}() RETURNS trigger LANGUAGE plpgsql ${attributes} SET search_path = '' AS $$
  ${declared === '' ? '' : `DECLARE ${declared}`}
  BEGIN
    ${inSchema('TG_TABLE_SCHEMA')}
    ${body}
    RETURN NULL;
  END $$;`;

/** Lets a role call functions. Only the operator may call the others (shared-functions.ts). */
export const offer = (role: 'carrel_tenant' | 'carrel_worker', ...names: readonly string[]): string =>
  `GRANT EXECUTE ON FUNCTION ${names.map((name) => `carrel.${name}`).join(', ')} TO ${role};`;
