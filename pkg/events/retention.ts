import type { Schedule } from './processor.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { HOUR_MS } from '../runtime/time.ts';

/** docs/design/events-and-jobs.md, Retention. */
export const EVENT_RETENTION_DAYS = 30;
/** The most events deleted in one statement, so that none takes long. */
const EVENTS_PER_STATEMENT = 1_000;

/** Deletes events past their retention, with their deliveries. */
export const deleteExpiredEvents: Schedule = {
  name: 'delete expired events',
  everyMs: HOUR_MS,
  run: async ({ shards }, onFailure) => {
    for (const [shard, { db }] of shards) await deleteExpired(db).catch((error: unknown) => onFailure(error, { shard }));
  },
};

export async function deleteExpired(sql: Sql, days = EVENT_RETENTION_DAYS): Promise<void> {
  for (;;) {
    const deleted = await sql.query(
      `DELETE FROM carrel.events WHERE (tenant, id) IN (
         SELECT tenant, id FROM carrel.events WHERE created_at < now() - make_interval(days => $1) ORDER BY created_at LIMIT $2
       ) RETURNING id`,
      [days, EVENTS_PER_STATEMENT],
    );
    if (deleted.length < EVENTS_PER_STATEMENT) return;
  }
}

/** Trims outboxes that are full (pkg/store/postgres/functions/outbox.sql.ts). */
export const trimFullOutboxes: Schedule = {
  name: 'trim full outboxes',
  everyMs: 60_000,
  run: async ({ shards, log }, onFailure) => {
    for (const [shard, { db }] of shards) {
      await trimFull(db, (tenant, events) =>
        log.warn({ shard, tenant, events }, 'the outbox of a tenant was full; its oldest sent events were deleted'),
      ).catch((error: unknown) => onFailure(error, { shard }));
    }
  },
};

async function trimFull(sql: Sql, onTrimmed: (tenant: string, events: number) => void): Promise<void> {
  const deleted = new Map<string, number>();
  for (let more = true; more;) {
    const trimmed = await sql.query<{ tenant: string; deleted: number }>('SELECT tenant, deleted FROM carrel.trim_outbox()');
    for (const each of trimmed) deleted.set(each.tenant, (deleted.get(each.tenant) ?? 0) + each.deleted);
    more = trimmed.some((each) => each.deleted > 0);
  }
  for (const [tenant, events] of deleted) onTrimmed(tenant, events);
}
