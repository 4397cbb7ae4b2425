import { quoteIdentifier } from '../../pool.ts';
import type { TenantMigration } from './migration.ts';

/** As in 0045; `request` is an expression. */
const sessionsBody = (
  request: string,
): string => `PERFORM write_audit(CASE TG_OP WHEN 'INSERT' THEN 'session.create' ELSE 'session.end' END, 'session', NEW.id, NEW.user_agent,
      CASE WHEN TG_OP = 'INSERT' THEN audit_changes('{}', jsonb_build_object('launch_id', NEW.launch_id)) ELSE '{}' END,
      CASE WHEN TG_OP = 'INSERT' THEN jsonb_build_object('user', NEW.user_id, 'ip', NEW.ip, 'request', ${request}) END);`;

const auditSessions = (searchPath: string, request: string): string => `
  CREATE OR REPLACE FUNCTION audit_sessions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = ${searchPath} AS $$
  BEGIN
    ${sessionsBody(request)}
    RETURN NULL;
  END $$;`;

const OF_TRANSACTION = `nullif(current_setting('carrel.origin', true), '')::jsonb ->> 'request'`;
const OF_SESSION = `nullif(current_setting('carrel.origins', true), '')::jsonb -> NEW.id::text ->> 'request'`;

/** What the function does. */
export const SESSIONS_BODY = sessionsBody(`coalesce(${OF_SESSION}, ${OF_TRANSACTION})`);

export const sessionsFunction = (role: string): string =>
  auditSessions(`${quoteIdentifier(role)}, ext, pg_temp`, `coalesce(${OF_SESSION}, ${OF_TRANSACTION})`);

/**
 * A statement that opens sessions of several launches says with `carrel.origins` which request each is of, as one that stores
 * several uploads does.
 */
export const requestsOfLaunches: TenantMigration = {
  name: '0049-requests-of-launches',
  up: ({ role }) => sessionsFunction(role),
  down: ({ role }) => auditSessions(`${quoteIdentifier(role)}, ext, pg_temp`, OF_TRANSACTION),
};
