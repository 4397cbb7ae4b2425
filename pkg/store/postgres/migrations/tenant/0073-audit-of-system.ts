import { quoteIdentifier } from '../../pool.ts';
import type { TenantMigration } from './migration.ts';

const writeAudit = (role: string, isSystem: string): string => `
  CREATE OR REPLACE FUNCTION write_audit(
    action text, target_type text, target_id uuid, target_name text, changes jsonb, origin jsonb DEFAULT NULL) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = ${quoteIdentifier(role)}, ext, pg_temp AS $$
  DECLARE
    whose jsonb := coalesce(origin, nullif(current_setting('carrel.origin', true), '')::jsonb);
  BEGIN
    IF current_setting('carrel.resealing', true) = 'on' AND pg_has_role(session_user, current_user, 'USAGE') THEN RETURN; END IF;
    INSERT INTO audit_entries (actor_id, actor_name, is_system, action, target_type, target_id, target_name, ip, request_id, changes)
    SELECT u.uuid, coalesce(u.display_name, u.username), ${isSystem}, write_audit.action, write_audit.target_type, write_audit.target_id,
      write_audit.target_name, left(whose ->> 'ip', 64), left(whose ->> 'request', 255), write_audit.changes
    FROM (VALUES ((whose ->> 'user')::bigint)) AS b (id) LEFT JOIN users u ON u.id = b.id;
  END $$;`;

/** The schema's own function, which the shared triggers find before that of shard migration 0023, does what that does. */
export const auditOfSystem: TenantMigration = {
  name: '0073-audit-of-system',
  up: ({ role }) => writeAudit(role, `whose IS NULL OR whose ->> 'system' IS NOT NULL`),
  down: ({ role }) => writeAudit(role, 'whose IS NULL'),
};
