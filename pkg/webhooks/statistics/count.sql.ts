import { LATENCY_BUCKETS } from './latency.ts';

const BUCKETS = Array.from({ length: LATENCY_BUCKETS }, (_, bucket) => `count(*) FILTER (WHERE o.bucket = ${bucket})`).join(', ');

/**
 * Returns a common table expression that adds attempts to their hours. `source` has rows with tenant, endpoint, is_sent,
 * is_failed and bucket (null: no answer came). The rows have one order, so that statements of two workers do not wait for each
 * other in a circle.
 */
export const countAttempts = (source: string): string => `
  counted AS (
    INSERT INTO carrel.delivery_statistics AS s (tenant, endpoint, hour, sent, failed, latency)
    SELECT o.tenant, o.endpoint, date_trunc('hour', now(), 'UTC'), count(*), count(*) FILTER (WHERE o.is_failed),
      ARRAY[${BUCKETS}]::int[]
    FROM ${source} o WHERE o.is_sent GROUP BY o.tenant, o.endpoint ORDER BY o.tenant, o.endpoint
    ON CONFLICT (tenant, endpoint, hour) DO UPDATE SET sent = s.sent + excluded.sent, failed = s.failed + excluded.failed,
      latency = ARRAY(SELECT u.a + u.b FROM unnest(s.latency, excluded.latency) WITH ORDINALITY AS u (a, b, n) ORDER BY u.n)
  )`;
