import type { Migration } from '../migration.ts';

/**
 * Jobs that wait for other parties' servers have a queue of their own (the column `line`), so that they never delay jobs that
 * need only our own stores. The index begins with the queue, because each dispatcher reads one queue.
 */
export const lines: Migration<object> = {
  name: '0003-lines',
  loses: 'The queue of each job: those that wait for other servers delay the others.',
  up: () => `
      ALTER TABLE carrel.work ADD COLUMN line varchar(30) NOT NULL DEFAULT 'work';
      DROP INDEX carrel.work_due_idx;
      CREATE INDEX work_due_idx ON carrel.work (line, tenant, due_at, id);
      GRANT INSERT (line) ON carrel.work TO carrel_tenant;
    `,
  down: () => `
      DROP INDEX carrel.work_due_idx;
      ALTER TABLE carrel.work DROP COLUMN line;
      CREATE INDEX work_due_idx ON carrel.work (tenant, due_at, id);
    `,
};
