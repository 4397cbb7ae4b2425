import { z } from 'zod';
import { Bytes } from '../api/schemas.ts';

const Count = z.int().min(0);
const Requests = z.int().min(1);

/** Something that is counted, and as much of it as there may be. */
const boundedBytes = (used: string) =>
  z.object({
    limit: Bytes.nullable().describe('null: none'),
    used: Bytes.describe(used),
  });

/**
 * What the Tenant resource (`spec`) sets for the institution: docs/use-the-api.md, See what the Tenant resource sets. It has no
 * secrets, and no addresses but those that people use.
 */
export const TenantSettingsView = z
  .object({
    resource: z.string().nullable().meta({
      description: 'namespace and name of the Tenant resource, for `kubectl`; null: the server does not know it',
      example: 'faculty/biology',
    }),
    slug: z.string().meta({ description: 'the short name; it never changes', example: 'biology' }),
    display_name: z.string().nullable().meta({
      description: '`spec.displayName`; null: the resource has none, and pages show the slug',
      example: 'Faculty of Biology',
    }),
    administrators: z.array(z.string()).meta({
      description: 'the addresses for which `spec.admin` has made accounts, the oldest first',
      example: ['admin@biology.example.org'],
    }),
    addresses: z
      .object({
        app: z.string().meta({ description: 'pages and API', example: 'https://biology.example.org' }),
        lti: z.string().meta({ description: 'what LMSs call', example: 'https://lti.biology.example.org' }),
        api: z.string().meta({ example: 'https://biology.example.org/api/v1' }),
      })
      .describe('the addresses that `spec.hosts` or the domain of the platform gives'),
    limits: z.object({
      storage: boundedBytes('what counts to the quotas of all people').describe('`spec.limits.storage`'),
      files: z
        .object({
          limit: Count.nullable().meta({ description: 'null: none', example: 1_000_000 }),
          used: Count.meta({
            description: 'files and folders, those in the trash too, with versions after the first, share links and tags',
            example: 2_310,
          }),
        })
        .describe('`spec.limits.files`'),
      database: boundedBytes('the tables with their indexes, as of this request, in whole MiB').describe(
        '`spec.limits.database`: beyond it the institution can only be read',
      ),
      default_user_quota: Bytes.nullable().describe('`spec.storage.defaultUserQuota`: what a new user may store; null: 10 GiB'),
      max_upload_size: Bytes.nullable().describe(
        '`spec.storage.maxUploadSize`: the largest file; null: the resource sets none, and `limits` of `GET /me` has the largest',
      ),
      requests: z
        .object({
          per_user_per_minute: Requests.meta({ example: 100 }),
          per_tenant_per_minute: Requests.meta({ example: 1_000 }),
          per_address_per_hour: Requests.meta({ example: 10_000 }),
        })
        .describe('`spec.limits.requestsPerUserPerMinute`, `requestsPerTenantPerMinute` and `requestsPerIpPerHour`'),
    }),
    retention: z
      .object({
        trash_seconds: z.int().min(0).meta({
          description: '`spec.trashRetention`: how long what is deleted can be restored at least',
          example: 2_592_000,
        }),
        versions_keep: z.int().min(1).meta({
          description: '`spec.versions.keep`: how many versions of a file are kept, the current one included',
          example: 50,
        }),
        versions_days: z.int().min(1).nullable().meta({
          description: '`spec.versions.days`: how long a version is kept after it was replaced; null: its age does not matter',
          example: null,
        }),
      })
      .describe('how long things are kept'),
    helpers: z
      .object({ translate: z.boolean(), pdf_optimize: z.boolean(), pdf_translate: z.boolean() })
      .describe('which helper services `spec.helpers` names; `GET /helpers` shows whether they are available'),
  })
  .meta({ id: 'TenantSettings' });
export type TenantSettingsView = z.output<typeof TenantSettingsView>;
