import type { Schedule } from '../../api/processor.ts';
import { tenantRoles } from '../../store/postgres/tenant-roles.ts';
import { CHECK_INTEGRITY } from './integrity.jobs.ts';

const DAY_MS = 24 * 3_600_000;
const EVERY_DAYS = 7;

/** Two workers at once may both insert one: then a tenant is checked twice in that week, which does no harm. */
const SCHEDULE = `
  INSERT INTO carrel.work (kind, payload, due_at, line)
  SELECT $1::text, '{}', $2::timestamptz, $3::text WHERE NOT EXISTS (SELECT FROM carrel.work WHERE kind = $1::text)`;

/** Sees to it that each tenant's integrity is checked once a week: where no check waits, one is due within seven days, at a time of its own. */
export const scheduleIntegrityChecks: Schedule = {
  name: 'schedule integrity checks',
  everyMs: DAY_MS,
  run: async ({ shards, clock, random, log }) => {
    for (const [shard, { pool }] of shards) {
      for (const role of await tenantRoles(pool)) {
        const dueAt = new Date(clock.now().getTime() + random.fraction() * EVERY_DAYS * DAY_MS);
        await pool
          .transaction((tx) => tx.query(SCHEDULE, [CHECK_INTEGRITY.kind, dueAt, CHECK_INTEGRITY.queue]), { role })
          .catch((error: unknown) => log.warn({ err: error, shard, role }, 'could not schedule an integrity check; retrying tomorrow'));
      }
    }
  },
};
