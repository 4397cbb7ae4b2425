import { z } from 'zod';
import { Bytes, Timestamp, Uuid } from '../../api/schemas.ts';

/** A person's storage. `storage_used` counts every version and the metadata of every file, including the trash. */
export const UsageView = z
  .object({
    storage_quota: Bytes,
    storage_used: Bytes,
    files: z.int().min(0).meta({ description: 'files outside of the trash', example: 120 }),
    trashed_files: z.int().min(0).meta({ example: 3 }),
    versions_bytes: Bytes.describe('older versions of files outside of the trash'),
    trash_bytes: Bytes.describe('all versions of files in the trash'),
    metadata_bytes: Bytes.describe('metadata of all files, each entry in whole KiB'),
  })
  .meta({ id: 'Usage' });
export type UsageView = z.output<typeof UsageView>;

const Count = z.int().min(0).meta({ example: 120 });

/** The storage of all people of the tenant. */
export const TenantUsageView = z
  .object({
    counted_at: Timestamp,
    people: Count.describe('who can sign in'),
    storage_used: Bytes.describe('of all people, and of the files of courses and of former people'),
    files: Count.describe('files outside of the trash'),
    trashed_files: Count,
    versions_bytes: Bytes.describe('older versions of files outside of the trash'),
    trash_bytes: Bytes.describe('all versions of files in the trash'),
    metadata_bytes: Bytes.describe('metadata of all files, each entry in whole KiB'),
    largest_users: z
      .array(
        z.object({
          user: z.object({ id: Uuid, name: z.string().meta({ example: 'Ada Okafor' }) }),
          storage_used: Bytes,
          storage_quota: Bytes,
        }),
      )
      .describe('the people who store most, at most 10'),
    types: z
      .array(
        z.object({
          mime_type: z.string().nullable().meta({ example: 'application/pdf' }),
          files: Count,
          bytes: Bytes.describe('current versions'),
        }),
      )
      .describe('the media types of files outside of the trash, those with most bytes first, at most 50'),
    months: z
      .array(
        z.object({
          month: z.string().meta({ description: 'year and month, in UTC', example: '2026-11' }),
          versions: Count,
          bytes: Bytes,
        }),
      )
      .describe('what was uploaded in the last 12 months and is still stored, by month; a month without uploads is left out'),
    days: z
      .array(
        z.object({
          day: z.iso.date().meta({ description: 'in UTC', example: '2026-11-27' }),
          people: Count.describe('who did something that the audit log contains'),
          uploads: Count,
          sign_ins: Count,
        }),
      )
      .describe('the last 30 days; a day without entries in the audit log is left out'),
    requests: z
      .array(
        z.object({
          day: z.iso.date().meta({ description: 'in UTC', example: '2026-11-27' }),
          succeeded: Count.describe('answered with 2xx or 3xx'),
          refused: Count.describe('answered with 4xx, or with 507 because a quota is full'),
          failed: Count.describe('answered with another 5xx'),
        }),
      )
      .describe('answered requests of the last 30 days, but for files of the pages; a day without any is left out'),
    deliveries: z
      .array(
        z.object({
          day: z.iso.date().meta({ description: 'in UTC', example: '2026-11-27' }),
          sent: Count.describe('attempts of all webhooks'),
          failed: Count.describe('attempts without a 2xx answer'),
        }),
      )
      .describe('calls of webhooks in the last 7 days; a day without any is left out'),
  })
  .meta({ id: 'TenantUsage' });
export type TenantUsageView = z.output<typeof TenantUsageView>;
