import type { Schedule } from '../api/processor.ts';
import type { Sql } from '../store/postgres/pool.ts';

/** docs/design/events-and-jobs.md, Retention. */
const EVENT_RETENTION_DAYS = 30;
/** Events deleted in one statement, so that none takes long. */
const EVENTS_PER_STATEMENT = 1_000;

/** Deletes events past their retention, with their deliveries. */
export const deleteExpiredEvents: Schedule = {
  name: 'delete expired events',
  everyMs: 3_600_000,
  run: async ({ shards, log }) => {
    for (const [shard, { pool }] of shards) {
      await deleteExpired(pool).catch((error: unknown) =>
        log.warn({ err: error, shard }, 'could not delete expired events; retrying in an hour'),
      );
    }
  },
};

async function deleteExpired(sql: Sql): Promise<void> {
  for (;;) {
    const deleted = await sql.query(
      `DELETE FROM carrel.events WHERE (tenant, id) IN (
         SELECT tenant, id FROM carrel.events WHERE created_at < now() - make_interval(days => $1) ORDER BY created_at LIMIT $2
       ) RETURNING id`,
      [EVENT_RETENTION_DAYS, EVENTS_PER_STATEMENT],
    );
    if (deleted.length < EVENTS_PER_STATEMENT) return;
  }
}
