import type { TenantMigration } from './migration.ts';

/**
 * Jobs that somebody requested and follows at /jobs (docs/design/events-and-jobs.md, Jobs of people), and what each of them does
 * one by one.
 * `user_id` null: the system's. `is_planned`: its items are all there; until then `cursor` says how far they have been looked
 * for. `is_single`: a further request joins it while it has not ended.
 * `copy` of an item is the uuid that its copy gets, `copy_in` the one of the folder which that copy is in. Items of a lower
 * `rank` go first.
 */
export const tasks: TenantMigration = {
  name: '0039-tasks',
  loses: 'All jobs of /jobs; those that run end where they are.',
  up: () => `
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
        ended_at timestamptz(3)
      );
      CREATE INDEX tasks_user_id_idx ON tasks (user_id, created_at, id);
      CREATE INDEX tasks_unfinished_idx ON tasks (user_id) WHERE state IN ('queued', 'running');
      CREATE INDEX tasks_created_at_idx ON tasks (created_at, id);
      CREATE INDEX tasks_retry_of_idx ON tasks (retry_of);

      -- One row of a person: their requests wait for each other by it, so that no row which a running task holds is waited for.
      CREATE TABLE task_requesters (
        user_id bigint PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE
      );

      CREATE TABLE task_items (
        task_id bigint NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
        id bigint GENERATED ALWAYS AS IDENTITY,
        uuid uuid NOT NULL DEFAULT gen_random_uuid(),
        rank integer NOT NULL,
        target_type varchar(10) NOT NULL CHECK (target_type IN ('file', 'folder')),
        target uuid NOT NULL,
        target_name varchar(255) NOT NULL,
        copy uuid,
        copy_in uuid,
        state varchar(10) NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'succeeded', 'failed')),
        error_code varchar(50),
        error_message varchar(1000),
        PRIMARY KEY (task_id, id),
        CONSTRAINT task_items_target_key UNIQUE (task_id, target_type, target)
      );
      CREATE INDEX task_items_queued_idx ON task_items (task_id, rank, id) WHERE state = 'queued';
      CREATE INDEX task_items_failed_idx ON task_items (task_id, id) WHERE state = 'failed';
    `,
  down: () => `
      DROP TABLE task_items;
      DROP TABLE task_requesters;
      DROP TABLE tasks;
    `,
};
