import type { Migration } from '../migration.ts';

const writeAudit = (isSystem: string): string => `
  CREATE OR REPLACE FUNCTION carrel.write_audit(
    action text, target_type text, target_id uuid, target_name text, changes jsonb, origin jsonb DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    whose jsonb := coalesce(origin, nullif(current_setting('carrel.origin', true), '')::jsonb);
  BEGIN
    IF current_setting('carrel.resealing', true) = 'on' AND pg_has_role(session_user, current_user, 'USAGE') THEN RETURN; END IF;
    INSERT INTO audit_entries (actor_id, actor_name, is_system, action, target_type, target_id, target_name, ip, request_id, changes)
    SELECT u.uuid, coalesce(u.display_name, u.username), ${isSystem}, write_audit.action, write_audit.target_type, write_audit.target_id,
      write_audit.target_name, left(whose ->> 'ip', 64), left(whose ->> 'request', 255), write_audit.changes
    FROM (VALUES ((whose ->> 'user')::bigint)) AS b (id) LEFT JOIN users u ON u.id = b.id;
  END $$`;

/**
 * What Carrel does by itself for a request, such as making a course of a launch, is the system's, and the entry has the request.
 */
export const auditOfSystem: Migration<object> = {
  name: '0023-audit-of-system',
  up: () => writeAudit(`whose IS NULL OR whose ->> 'system' IS NOT NULL`),
  down: () => writeAudit('whose IS NULL'),
};
