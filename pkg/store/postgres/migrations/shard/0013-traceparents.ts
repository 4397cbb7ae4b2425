import type { Migration } from '../migration.ts';

/**
 * The span that made an event or a job (W3C traceparent), so that the worker goes on with its trace. Null where traces are off or
 * that one is not sampled. A statement that does not give it gets that of the transaction's origin
 * (pkg/store/postgres/origin.ts); the default is set by itself, so that the rows that are there are not rewritten.
 */
export const traceparents: Migration<object> = {
  name: '0013-traceparents',
  loses: 'Of which trace events and jobs are.',
  up: () =>
    ['events', 'work']
      .map(
        (table) => `
            ALTER TABLE carrel.${table} ADD COLUMN traceparent varchar(55);
            ALTER TABLE carrel.${table} ALTER COLUMN traceparent SET DEFAULT nullif(current_setting('carrel.origin', true), '')::json ->> 'trace';
            GRANT INSERT (traceparent) ON carrel.${table} TO carrel_tenant;`,
      )
      .join(''),
  down: () => 'ALTER TABLE carrel.events DROP COLUMN traceparent; ALTER TABLE carrel.work DROP COLUMN traceparent',
};
