import { tenantRole } from '../../pkg/store/postgres/provisioning.ts';
import { asSuperuser } from './database.ts';

/** A number from 0 to 1 that a text always has. */
const shareOf = (text: string): string => `('x' || substr(md5(${text}), 1, 6))::bit(24)::int / 16777216.0`;
/** How long ago a file changed, by its name: some minutes to four weeks, most of them short. */
const AGE = `interval '1 minute' * (35 + power(${shareOf('name')}, 3) * 40000)::int`;
/** How long before that it was made: up to ten months. */
const BEFORE = `interval '1 hour' * (24 + power(${shareOf(`name || ' made'`)}, 2) * 7200)::int`;

/**
 * Spreads the times of the sample tenant: those of files over ten months, of the audit log over 30 days, of webhooks over a day.
 * All of them are a minute old otherwise, and no link has been used, which is not what people see after a while.
 */
export async function spreadTimes(stateDirectory: string, slug: string): Promise<void> {
  await asSuperuser(stateDirectory, slug, async (sql) => {
    for (const table of ['files', 'folders'])
      await sql.query(`UPDATE ${table} SET created_at = now() - ${AGE} - ${BEFORE}, updated_at = now() - ${AGE}`);
    await sql.query(`
      UPDATE file_versions v
      SET created_at = CASE WHEN f.version_number = 1 THEN f.created_at
        ELSE f.updated_at - interval '29 hours' * (f.version_number - v.version_number) END
      FROM files f WHERE f.id = v.file_id`);
    await sql.query(`
      UPDATE audit_entries SET at = now() - interval '1 minute' * (4 + power(${shareOf('uuid::text')}, 1.6) * 41000)::int,
        ip = CASE WHEN ip IS NOT NULL THEN '192.0.2.' || (10 + ${shareOf(`coalesce(actor_name, '')`)} * 200)::int END`);
    await sql.query(
      `UPDATE group_members SET created_at = now() - interval '1 hour' * (30 + ${shareOf('user_id::text')} * 2000)::int`,
    );
    await sql.query(
      `UPDATE users SET created_at = now() - interval '1 hour' * (60 + ${shareOf('uuid::text')} * 5000)::int WHERE NOT is_system`,
    );
    await sql.query(
      `UPDATE lti_launches SET launched_at = now() - interval '1 minute' * (9 + ${shareOf('user_id')} * 5000)::int`,
    );
    await sql.query(`UPDATE lti_grades SET timestamp = now() - interval '1 minute' * (3 + ${shareOf('uuid::text')} * 4000)::int`);
    await sql.query(
      `UPDATE shares SET download_count = (${shareOf('uuid::text')} * 20)::int WHERE mode <> 'upload' AND download_count = 0`,
    );
    await sql.query(
      `UPDATE carrel.deliveries
       SET created_at = now() - interval '1 minute' * (2 + power(${shareOf('uuid::text')}, 2) * 1300)::int
       WHERE tenant = $1`,
      [tenantRole(slug)],
    );
    await spreadRequests((text) => sql.query(text));
    await spreadStatistics((text) => sql.query(text, [tenantRole(slug)]));
  });
}

/** Requests of the 29 days before today: few at the weekend, of which some are refused and hardly any fails. */
async function spreadRequests(query: (text: string) => Promise<unknown>): Promise<void> {
  await query(`
    INSERT INTO request_counts AS c (hour, succeeded, refused, failed)
    SELECT hour, succeeded, succeeded / 40 + ago % 7, (ago % 9) / 8 * 6
    FROM (
      SELECT ago, hour, ((2600 + ${shareOf('ago::text')} * 1400)
        * CASE WHEN extract(isodow FROM hour AT TIME ZONE 'UTC') > 5 THEN 0.2 ELSE 1 END)::bigint AS succeeded
      FROM generate_series(1, 29) AS ago,
        LATERAL (SELECT date_trunc('day', now(), 'UTC') - interval '1 day' * ago + interval '9 hours' AS hour) AS at
    ) AS days
    ON CONFLICT (hour) DO NOTHING`);
}

/**
 * What was sent to each webhook within one hour is spread over a week: nothing at night, most in the morning, and less on the
 * days before.
 */
async function spreadStatistics(query: (text: string) => Promise<unknown>): Promise<void> {
  const weights = `(VALUES (0, 2), (1, 4), (2, 7), (3, 5), (4, 3), (5, 6), (6, 8), (7, 4), (8, 1), (19, 1), (20, 3), (21, 5),
    (22, 6), (23, 2))
    AS w (ago, weight)`;
  await query(`
    INSERT INTO carrel.delivery_statistics AS s (tenant, endpoint, hour, sent, failed, latency)
    SELECT tenant, endpoint, date_trunc('hour', now(), 'UTC') - interval '1 hour' * (ago + 24 * day), sent * weight / per,
      failed * weight / per, ARRAY(SELECT count * weight / per FROM unnest(latency) WITH ORDINALITY AS u (count, n) ORDER BY n)
    FROM (
      SELECT DISTINCT ON (tenant, endpoint) tenant, endpoint, sent, failed, latency
      FROM carrel.delivery_statistics WHERE tenant = $1 ORDER BY tenant, endpoint, sent DESC
    ) AS most, ${weights}, generate_series(0, 6) AS day, LATERAL (SELECT 8 + day * 11 % 7 AS per) AS share
    ON CONFLICT (tenant, endpoint, hour)
      DO UPDATE SET sent = excluded.sent, failed = excluded.failed, latency = excluded.latency`);
}
