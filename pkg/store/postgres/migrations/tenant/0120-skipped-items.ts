import type { TenantMigration } from './migration.ts';

/**
 * Items of jobs that there was nothing to do for (`skipped`, with a `reason`), and what came of each item by itself (`result`).
 * `skipped` of a job counts them; they are among `done`. `target_name` is empty where its requester may not know the name.
 */
export const skippedItems: TenantMigration = {
  name: '0120-skipped-items',
  loses: 'Jobs of the kind batch; skipped items of others are succeeded ones.',
  up: () => `
      ALTER TABLE tasks ADD COLUMN skipped integer NOT NULL DEFAULT 0 CHECK (skipped BETWEEN 0 AND done);
      ALTER TABLE task_items ADD COLUMN reason varchar(50), ADD COLUMN result jsonb,
        DROP CONSTRAINT task_items_state_check,
        ADD CONSTRAINT task_items_state_check CHECK (state IN ('queued', 'succeeded', 'failed', 'skipped'));
    `,
  down: () => `
      DELETE FROM tasks WHERE kind = 'batch';
      UPDATE task_items SET state = 'succeeded' WHERE state = 'skipped';
      ALTER TABLE task_items DROP COLUMN result, DROP COLUMN reason,
        DROP CONSTRAINT task_items_state_check,
        ADD CONSTRAINT task_items_state_check CHECK (state IN ('queued', 'succeeded', 'failed'));
      ALTER TABLE tasks DROP COLUMN skipped;
    `,
};
