import type { TenantMigration } from './migration.ts';

const DEFINITION = 'name, kind, arguments, cron, time_zone, active, catch_up, managed_by, managed_ref';
const CHANGED = ['name', 'kind', 'arguments', 'cron', 'time_zone', 'active', 'catch_up', 'managed_by']
  .map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`)
  .join(' OR ');

/**
 * What a tenant runs at times of its own (docs/design/events-and-jobs.md, Schedules). `saved_by` is whom a run acts as.
 * `settings` are those of the tenant's server that a run needs. `next_tick`: the next time that the expression names; null: it is
 * not active. `managed_ref`: its name in `spec.schedules`.
 *
 * A tick has a row, whatever came of it: that it is unique keeps two workers from a second run. `task` is the run's uuid; null
 * where there was none.
 * `schedule_id` of a task: the schedule that it is a run of.
 */
export const schedules: TenantMigration = {
  name: '0130-schedules',
  loses: 'All schedules, and their runs of kinds that only they have.',
  up: () => `
      CREATE TABLE schedules (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT schedules_uuid_key UNIQUE,
        name varchar(100) NOT NULL,
        kind varchar(50) NOT NULL,
        arguments jsonb NOT NULL,
        cron varchar(100) NOT NULL,
        time_zone varchar(64) NOT NULL,
        active boolean NOT NULL,
        catch_up boolean NOT NULL,
        managed_by varchar(50),
        managed_ref varchar(63) CONSTRAINT schedules_managed_ref_key UNIQUE,
        saved_by bigint REFERENCES users (id) ON DELETE SET NULL,
        settings jsonb NOT NULL,
        next_tick timestamptz(3),
        skipped bigint NOT NULL DEFAULT 0,
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        CHECK (active = (next_tick IS NOT NULL))
      );
      CREATE INDEX schedules_saved_by_idx ON schedules (saved_by);
      CREATE INDEX schedules_created_at_idx ON schedules (created_at, id);
      -- A tick makes no new revision.
      CREATE TRIGGER touch BEFORE UPDATE OF ${DEFINITION} ON schedules FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      CREATE TRIGGER audit_insert AFTER INSERT ON schedules FOR EACH ROW EXECUTE FUNCTION carrel.audit_schedules();
      CREATE TRIGGER audit_update AFTER UPDATE ON schedules FOR EACH ROW WHEN (${CHANGED}) EXECUTE FUNCTION carrel.audit_schedules();
      CREATE TRIGGER audit_delete AFTER DELETE ON schedules FOR EACH ROW EXECUTE FUNCTION carrel.audit_schedules();

      CREATE TABLE schedule_ticks (
        schedule_id bigint NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
        tick timestamptz(3) NOT NULL,
        task uuid,
        PRIMARY KEY (schedule_id, tick)
      );

      ALTER TABLE tasks ADD COLUMN schedule_id bigint REFERENCES schedules (id) ON DELETE SET NULL;
      CREATE INDEX tasks_schedule_id_idx ON tasks (schedule_id, created_at, id) WHERE schedule_id IS NOT NULL;
    `,
  down: () => `
      DELETE FROM tasks WHERE kind IN ('recount_usage', 'sweep_objects', 'sweep_uploads', 'apply_retention', 'verify_checksums')
        OR (kind = 'empty_trash' AND NOT arguments ? 'before');
      ALTER TABLE tasks DROP COLUMN schedule_id;
      DROP TABLE schedule_ticks;
      DROP TABLE schedules;
    `,
};
