import { z } from 'zod';
import { changesOf, Etag, Timestamp } from '../api/schemas.ts';

/** The longest life of a share link that a policy may allow, in days. */
const DAYS_MAX = 3650;

/** docs/use-the-api.md, Decide which share links are allowed. */
export const LinkPolicyFields = z.strictObject({
  enabled: z.boolean().describe('false: no share link works, and nobody makes one'),
  password_required: z.boolean().describe('true: a share link needs a password'),
  max_days: z.int().min(1).max(DAYS_MAX).nullable().meta({
    description:
      'the days of 24 hours after which a share link must have ended, counted from when it was made; null: it need not end',
    example: 30,
  }),
  folder_uploads: z.boolean().describe('false: no share link takes uploads into a folder'),
});

/** docs/design/records.md, Settings. */
export const SettingsView = z
  .object({
    share_links: LinkPolicyFields.extend({
      managed_by: z.string().nullable().meta({
        description: '`kubernetes`: `spec.shareLinks` of the Tenant resource sets the policy and alone may change it',
        example: null,
      }),
    }),
    tenant_resource: z.string().nullable().meta({
      description: 'namespace and name of the Tenant resource, for `kubectl`; null: the server does not know it',
      example: 'biology/biology',
    }),
    updated_at: Timestamp.nullable().describe('null: nobody has changed a setting yet'),
    etag: Etag,
  })
  .meta({ id: 'Settings' });
export type SettingsView = z.output<typeof SettingsView>;

/** The body of PATCH. Absent fields keep their values. */
export const SettingsChanges = changesOf(z.object({ share_links: changesOf(LinkPolicyFields) })).meta({ id: 'SettingsChanges' });
export type SettingsChanges = z.output<typeof SettingsChanges>;
