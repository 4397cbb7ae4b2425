import { Problem } from '../../api/problem.ts';
import type { Schedule } from '../../events/processor.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { LATENCY_BUCKETS, quantile } from './latency.ts';
import type { WebhookStatistics } from './statistics.schema.ts';
import { HOUR_MS } from '../../runtime/time.ts';

interface HourRow {
  readonly hour: Date;
  readonly isOfDay: boolean;
  readonly sent: number;
  readonly failed: number;
  /** Counts by bucket of LATENCY_BUCKETS. */
  readonly latency: readonly number[];
}

/** Returns a row of the webhook without an hour if nothing was sent. */
const HOURS = `
  SELECT s.hour, s.hour > n.hour - interval '24 hours' AS "isOfDay", s.sent, s.failed, s.latency
  FROM webhooks w CROSS JOIN (SELECT date_trunc('hour', now(), 'UTC') AS hour) n
  LEFT JOIN carrel.delivery_statistics s ON s.tenant = current_user AND s.endpoint = w.uuid
    AND s.hour > n.hour - interval '7 days'
  WHERE w.uuid = $1 ORDER BY s.hour DESC`;

/** Runs one statement. Throws `not_found`. */
export async function statisticsOf(sql: Sql, webhook: string): Promise<WebhookStatistics> {
  const rows = await sql.query<HourRow | { readonly hour: null }>(HOURS, [webhook]);
  if (rows.length === 0) throw new Problem('not_found');
  const hours = rows.filter((row) => row.hour !== null);
  return {
    last_24_hours: counted(hours.filter(({ isOfDay }) => isOfDay)),
    last_7_days: counted(hours),
    hours: hours.map((row) => ({ hour: row.hour.toISOString(), ...counted([row]) })),
  };
}

function counted(rows: readonly HourRow[]): WebhookStatistics['last_7_days'] {
  const sum = (of: (row: HourRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const latency = Array.from({ length: LATENCY_BUCKETS }, (_, bucket) => sum((row) => row.latency[bucket] ?? 0));
  return {
    sent: sum(({ sent }) => sent),
    failed: sum(({ failed }) => failed),
    p50_ms: quantile(latency, 0.5),
    p95_ms: quantile(latency, 0.95),
  };
}

/** Deletes hours that no statistics show any longer. */
export const deleteExpiredStatistics: Schedule = {
  name: 'delete expired statistics of webhooks',
  everyMs: HOUR_MS,
  run: async ({ shards }, onFailure) => {
    for (const [shard, { db }] of shards)
      await db
        .query("DELETE FROM carrel.delivery_statistics WHERE hour < now() - interval '8 days'")
        .catch((error: unknown) => onFailure(error, { shard }));
  },
};
