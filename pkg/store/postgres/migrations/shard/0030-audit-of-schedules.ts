import type { Migration } from '../migration.ts';

const SHOWN = ['name', 'kind', 'arguments', 'cron', 'time_zone', 'active', 'catch_up', 'managed_by'];
const shown = (row: 'OLD' | 'NEW'): string =>
  `jsonb_build_object(${SHOWN.map((column) => `'${column}', ${row}.${column}`).join(', ')})`;

/** The entries of the audit log for the table `schedules` of the tenants (their migration 0130). */
export const auditOfSchedules: Migration<object> = {
  name: '0030-audit-of-schedules',
  up: () => `
      CREATE FUNCTION carrel.audit_schedules() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
      BEGIN
        PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', TG_TABLE_SCHEMA), true);
        CASE TG_OP
          WHEN 'INSERT' THEN
            PERFORM write_audit('schedule.create', 'schedule', NEW.uuid, NEW.name, audit_changes('{}', ${shown('NEW')}));
          WHEN 'UPDATE' THEN
            PERFORM write_audit('schedule.update', 'schedule', NEW.uuid, NEW.name, audit_changes(${shown('OLD')}, ${shown('NEW')}));
          ELSE
            PERFORM write_audit('schedule.delete', 'schedule', OLD.uuid, OLD.name, '{}');
        END CASE;
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION carrel.audit_schedules FROM PUBLIC;
    `,
  down: () => 'DROP FUNCTION carrel.audit_schedules;',
};
