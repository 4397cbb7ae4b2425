const DEFINITION = 'name, kind, arguments, cron, time_zone, active, catch_up, managed_by, managed_ref';
const AUDITED = ['name', 'kind', 'arguments', 'cron', 'time_zone', 'active', 'catch_up', 'managed_by']
  .map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`)
  .join(' OR ');

/**
 * Tasks that a tenant runs at times of its own (docs/design/events-and-jobs.md, Schedules). `saved_by` is whom a run acts as.
 * `settings` are those of the tenant's server that a run needs. `next_tick`: the next time that the expression names; null: it
 * is not active. `managed_ref`: its name in `spec.schedules`. `missed`: how often a run was missed and not caught up.
 *
 * A tick has a row, whatever came of it: that it is unique keeps two workers from a second run. `task` is the run's uuid; null
 * where there was none.
 */
const SCHEDULES = `
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
        missed bigint NOT NULL DEFAULT 0,
        CHECK (active = (next_tick IS NOT NULL))
      );
      CREATE INDEX schedules_saved_by_idx ON schedules (saved_by);
      CREATE INDEX schedules_created_at_idx ON schedules (created_at, id);
      -- A tick makes no new revision.
      CREATE TRIGGER touch BEFORE UPDATE OF ${DEFINITION} ON schedules FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      CREATE TRIGGER audit_insert AFTER INSERT ON schedules FOR EACH ROW EXECUTE FUNCTION carrel.audit_schedules();
      CREATE TRIGGER audit_update AFTER UPDATE ON schedules FOR EACH ROW WHEN (${AUDITED})
      EXECUTE FUNCTION carrel.audit_schedules();
      CREATE TRIGGER audit_delete AFTER DELETE ON schedules FOR EACH ROW EXECUTE FUNCTION carrel.audit_schedules();

      CREATE TABLE schedule_ticks (
        schedule_id bigint NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
        tick timestamptz(3) NOT NULL,
        task uuid,
        PRIMARY KEY (schedule_id, tick)
      );
`;

/**
 * Jobs that somebody requested and follows at /jobs (docs/design/events-and-jobs.md, Jobs of people), and what each of them does
 * one by one.
 *
 * - `user_id` null: the system's. `is_planned`: its items are all there; until then `cursor` says how far they have been looked
 *   for. `is_single`: a further request joins it while it has not ended. `schedule_id`: the schedule that it is a run of.
 *   `skipped`: items that there was nothing to do for; they are among `done`.
 * - An item: `copy` is the uuid that its copy gets, `copy_in` the one of the folder which that copy is in. Items of a lower
 *   `rank` go first. `target_name` is empty where its requester may not know the name. `result`: what came of the item by itself.
 * - Items of imports are entries of an archive, whose name is a path. `entry` says where in the archive it is and what it is to
 *   become (pkg/content/imports); it is there until the item has ended. `content` is its content in the store, while no version
 *   names that: partial_upload_segments have its key.
 */
const TASKS = `
      CREATE TABLE tasks (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT tasks_uuid_key UNIQUE,
        kind varchar(50) NOT NULL,
        user_id bigint REFERENCES users (id) ON DELETE CASCADE,
        arguments jsonb NOT NULL,
        state varchar(10) NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'canceled')),
        is_single boolean NOT NULL DEFAULT false,
        is_planned boolean NOT NULL DEFAULT false,
        cursor jsonb,
        total integer NOT NULL DEFAULT 0 CHECK (total >= 0),
        done integer NOT NULL DEFAULT 0 CHECK (done BETWEEN 0 AND total),
        failed integer NOT NULL DEFAULT 0 CHECK (failed BETWEEN 0 AND done),
        result jsonb,
        error_code varchar(50),
        error_message varchar(1000),
        retry_of bigint REFERENCES tasks (id) ON DELETE SET NULL,
        created_at timestamptz(3) NOT NULL,
        started_at timestamptz(3),
        ended_at timestamptz(3),
        skipped integer NOT NULL DEFAULT 0 CHECK (skipped BETWEEN 0 AND done),
        schedule_id bigint REFERENCES schedules (id) ON DELETE SET NULL
      );
      CREATE INDEX tasks_user_id_idx ON tasks (user_id, created_at, id);
      CREATE INDEX tasks_unfinished_idx ON tasks (user_id) WHERE state IN ('queued', 'running');
      CREATE INDEX tasks_created_at_idx ON tasks (created_at, id);
      CREATE INDEX tasks_retry_of_idx ON tasks (retry_of);
      CREATE INDEX tasks_schedule_id_idx ON tasks (schedule_id, created_at, id) WHERE schedule_id IS NOT NULL;
      CREATE TRIGGER audit_insert AFTER INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION carrel.audit_tasks();
      CREATE TRIGGER audit_update AFTER UPDATE ON tasks FOR EACH ROW WHEN (OLD.state <> 'canceled' AND NEW.state = 'canceled')
        EXECUTE FUNCTION carrel.audit_tasks();

      -- One row of a person: their requests wait for each other by it, so that no row which a running task holds is waited for.
      CREATE TABLE task_requesters (
        user_id bigint PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE
      );

      CREATE TABLE task_items (
        task_id bigint NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
        id bigint GENERATED ALWAYS AS IDENTITY,
        uuid uuid NOT NULL DEFAULT gen_random_uuid(),
        rank integer NOT NULL,
        target_type varchar(10) NOT NULL CHECK (target_type IN ('file', 'folder', 'entry')),
        target uuid NOT NULL,
        target_name varchar(2048) NOT NULL,
        copy uuid,
        copy_in uuid,
        state varchar(10) NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'succeeded', 'failed', 'skipped')),
        error_code varchar(50),
        error_message varchar(1000),
        reason varchar(50),
        result jsonb,
        entry jsonb,
        content jsonb,
        PRIMARY KEY (task_id, id),
        CONSTRAINT task_items_target_key UNIQUE (task_id, target_type, target)
      );
      CREATE INDEX task_items_queued_idx ON task_items (task_id, rank, id) WHERE state = 'queued';
      CREATE INDEX task_items_failed_idx ON task_items (task_id, id) WHERE state = 'failed';
`;

export const tasks = [SCHEDULES, TASKS].join('\n');
