import { AS_OWNER, inSchema, offer } from './function.ts';

/** Kept so long (docs/design/events-and-jobs.md, Retention). */
const KEPT = '365 days';

/**
 * The audit log. Each entry is written by a trigger, in the transaction of the change, whoever makes it; `carrel.origin` says
 * whose request it is (pkg/store/postgres/origin.ts), `carrel.origins` of which file, where a statement makes files of several
 * people; without one it is the system's. What Carrel does by itself for a request, such as making a course of a launch, is the
 * system's, and the entry has the request. The tenant's role reads entries and can neither write, change nor delete one: the
 * functions of triggers run as their owner. Those here work in the search path of the function that calls them, or of the caller.
 */
export const auditLogFunctions = `
  CREATE OR REPLACE FUNCTION carrel.write_audit(
    action text, target_type text, target_id uuid, target_name text, changes jsonb, origin jsonb DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql AS $$
  DECLARE
    whose jsonb := coalesce(origin, nullif(current_setting('carrel.origin', true), '')::jsonb);
  BEGIN
    -- A secret under another key is the same secret. Nobody but the operator, who owns this function, can keep an entry from
    -- being written so.
    IF current_setting('carrel.resealing', true) = 'on' AND pg_has_role(session_user, current_user, 'USAGE') THEN RETURN; END IF;
    INSERT INTO audit_entries (actor_id, actor_name, is_system, action, target_type, target_id, target_name, ip,
      request_id, changes)
    SELECT u.uuid, coalesce(u.display_name, u.username), whose IS NULL OR whose ->> 'system' IS NOT NULL, write_audit.action,
      write_audit.target_type, write_audit.target_id, write_audit.target_name, left(whose ->> 'ip', 64),
        left(whose ->> 'request', 255),
      write_audit.changes
    FROM (VALUES ((whose ->> 'user')::bigint)) AS b (id) LEFT JOIN users u ON u.id = b.id;
  END $$;

  -- The fields that are not the same, each with both values.
  CREATE OR REPLACE FUNCTION carrel.audit_changes(before jsonb, after jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_object_agg(a.key, jsonb_build_object('from', before -> a.key, 'to', a.value)), '{}')
    FROM jsonb_each(after) a WHERE a.value IS DISTINCT FROM coalesce(before -> a.key, 'null')
  $$;

  -- Whose connection this is, or for whom the worker acts: what a function that runs as its owner finds in no other way.
  CREATE OR REPLACE FUNCTION carrel.role_of_caller() RETURNS name LANGUAGE sql STABLE AS $$
    SELECT CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END
  $$;

  -- A refused sign-in: of the account if there is one. What was typed is not kept: it may be a password.
  CREATE OR REPLACE FUNCTION carrel.audit_refused_sign_in(account text, origin jsonb) RETURNS void LANGUAGE plpgsql
    ${AS_OWNER} SET search_path = '' AS $$
  BEGIN
    ${inSchema('carrel.role_of_caller()')}
    PERFORM write_audit('session.fail', 'user', u.uuid, coalesce(u.display_name, u.username), '{}', audit_refused_sign_in.origin)
    FROM (VALUES (account)) AS a (email) LEFT JOIN users u ON lower(u.email) = lower(a.email) AND NOT u.is_system;
  END $$;

  -- Deletes some of what is kept long enough, and nothing else, whoever calls it; returns how many.
  CREATE OR REPLACE FUNCTION carrel.expire_audit() RETURNS bigint LANGUAGE plpgsql ${AS_OWNER} SET search_path = '' AS $$
  DECLARE
    deleted bigint;
  BEGIN
    ${inSchema('carrel.role_of_caller()')}
    DELETE FROM audit_entries WHERE id IN (
      SELECT id FROM audit_entries WHERE at < now() - interval '${KEPT}' ORDER BY at, id LIMIT 1000);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
  END $$;
  ${offer('carrel_tenant', 'audit_refused_sign_in', 'expire_audit')}
`;
