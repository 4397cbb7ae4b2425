import { z } from 'zod';
import { UserView } from '../accounts/users/users.schema.ts';
import { Bytes } from '../api/schemas.ts';
import { LinkPolicyFields } from '../settings/settings.schema.ts';

/** Everything that a page needs to start: who is signed in, where, what they may do, and what the tenant offers. */
export const WelcomeView = z
  .object({
    user: UserView,
    tenant: z.object({
      slug: z.string().meta({ example: 'biology' }),
      display_name: z.string().meta({ description: 'the slug if the tenant has no name', example: 'Biology' }),
    }),
    permissions: z.array(z.string()).meta({
      description: 'the permissions of this session, sorted; one that an LMS launched may have fewer than the user’s roles grant',
      example: ['read:files', 'read:folders', 'share:files', 'write:files', 'write:folders'],
    }),
    quota: z.object({ limit: Bytes, used: Bytes }).describe('the storage of the user, in bytes'),
    features: z
      .object({
        helpers: z
          .object({ translate: z.boolean(), pdf_optimize: z.boolean(), pdf_translate: z.boolean() })
          .describe('the helper services that are configured; `GET /helpers` shows whether they are available'),
        share_links: z.boolean().describe('true: the tenant allows share links'),
        lti: z.boolean().describe('true: at least one LMS is registered and active'),
        schedules: z.boolean().describe('true: the tenant runs schedules'),
      })
      .describe('what the tenant offers; `permissions` says what the caller may use'),
    limits: z.object({
      max_upload_size: Bytes.describe('the largest file, in bytes'),
      name_length: z
        .int()
        .meta({ description: 'the longest name of a file or folder, in characters (code points)', example: 255 }),
      share_links: LinkPolicyFields.omit({ enabled: true }).describe('what the tenant requires of a new share link'),
    }),
  })
  .meta({ id: 'Welcome' });
export type WelcomeView = z.output<typeof WelcomeView>;
