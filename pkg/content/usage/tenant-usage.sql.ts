import type { Sql } from '../../store/postgres/pool.ts';
import { ENTRY_BYTES } from '../model/metadata-bytes.ts';

interface Totals {
  readonly at: Date;
  readonly people: number;
  readonly used: number;
  readonly files: number;
  readonly trashed: number;
  readonly versions: number;
  readonly trash: number;
  readonly metadata: number;
}

interface Large {
  readonly id: string;
  readonly name: string;
  readonly used: number;
  readonly quota: number;
}

interface OfType {
  readonly mimeType: string | null;
  readonly files: number;
  readonly bytes: number;
}

interface Month {
  readonly month: string;
  readonly versions: number;
  readonly bytes: number;
}

interface Day {
  readonly day: string;
  readonly people: number;
  readonly uploads: number;
  readonly signIns: number;
}

interface DeliveryDay {
  readonly day: string;
  readonly sent: number;
  readonly failed: number;
}

interface RequestDay {
  readonly day: string;
  readonly succeeded: number;
  readonly refused: number;
  readonly failed: number;
}

export interface TenantUsageRows {
  readonly totals: Totals;
  readonly largest: readonly Large[];
  readonly types: readonly OfType[];
  readonly months: readonly Month[];
  readonly days: readonly Day[];
  readonly requests: readonly RequestDay[];
  readonly deliveries: readonly DeliveryDay[];
}

const TOTALS = `
  SELECT now() AS at, u.people, u.used, f.files, f.trashed, v.versions, v.trash, m.metadata
  FROM (
    SELECT count(*) FILTER (WHERE is_active AND NOT is_system) AS people, coalesce(sum(storage_used), 0)::bigint AS used
    FROM users
  ) u, (
    SELECT count(*) FILTER (WHERE deleted_at IS NULL) AS files, count(*) FILTER (WHERE deleted_at IS NOT NULL) AS trashed
    FROM files
  ) f, (
    SELECT coalesce(sum(v.size) FILTER (WHERE f.deleted_at IS NULL AND v.version_number <> f.version_number), 0)::bigint
        AS versions,
      coalesce(sum(v.size) FILTER (WHERE f.deleted_at IS NOT NULL), 0)::bigint AS trash
    FROM files f JOIN file_versions v ON v.file_id = f.id WHERE f.deleted_at IS NOT NULL OR f.version_number > 1
  ) v, (
    SELECT coalesce(sum(${ENTRY_BYTES}), 0)::bigint AS metadata FROM file_metadata m
  ) m`;

const LARGEST = `
  SELECT uuid AS id, coalesce(display_name, username) AS name, storage_used AS used, storage_quota AS quota FROM users
  WHERE NOT is_system AND storage_used > 0 ORDER BY storage_used DESC, id LIMIT 10`;

const TYPES = `
  SELECT mime_type AS "mimeType", count(*) AS files, coalesce(sum(size), 0)::bigint AS bytes FROM files WHERE deleted_at IS NULL
  GROUP BY mime_type ORDER BY bytes DESC, mime_type LIMIT 50`;

const MONTHS = `
  SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS versions, coalesce(sum(size), 0)::bigint AS bytes
  FROM file_versions WHERE created_at >= date_trunc('month', now(), 'UTC') - interval '11 months' GROUP BY 1 ORDER BY 1`;

const DAYS = `
  SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(DISTINCT actor_id) FILTER (WHERE NOT is_system) AS people,
    count(*) FILTER (WHERE action = 'file.upload') AS uploads, count(*) FILTER (WHERE action = 'session.create') AS "signIns"
  FROM audit_entries WHERE at >= date_trunc('day', now(), 'UTC') - interval '29 days' GROUP BY 1 ORDER BY 1`;

/** The counts that the servers have added (pkg/http/request-counts.ts). */
const REQUESTS = `
  SELECT to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, sum(succeeded)::bigint AS succeeded,
    sum(refused)::bigint AS refused, sum(failed)::bigint AS failed
  FROM request_counts WHERE hour >= date_trunc('day', now(), 'UTC') - interval '29 days' GROUP BY 1 ORDER BY 1`;

/** The statistics of webhooks, those of deleted ones too: eight days of them are stored. */
const DELIVERIES = `
  SELECT to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, sum(sent)::bigint AS sent, sum(failed)::bigint AS failed
  FROM carrel.delivery_statistics
  WHERE tenant = current_user AND hour >= date_trunc('day', now(), 'UTC') - interval '6 days' GROUP BY 1 ORDER BY 1`;

/** Takes seven statements, which read the rows of all files and versions, and the audit log of 30 days. */
export async function tenantUsage(sql: Sql): Promise<TenantUsageRows> {
  const [totals] = await sql.query<Totals>(TOTALS);
  if (!totals) throw new Error('the totals have no row');
  return {
    totals,
    largest: await sql.query<Large>(LARGEST),
    types: await sql.query<OfType>(TYPES),
    months: await sql.query<Month>(MONTHS),
    days: await sql.query<Day>(DAYS),
    requests: await sql.query<RequestDay>(REQUESTS),
    deliveries: await sql.query<DeliveryDay>(DELIVERIES),
  };
}
