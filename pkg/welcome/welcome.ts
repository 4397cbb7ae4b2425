import { presentUser } from '../accounts/users/users.view.ts';
import type { Actor } from '../api/actor.ts';
import { endpoint, reply } from '../api/endpoint.ts';
import { Problem } from '../api/problem.ts';
import { NAME_MAX_CHARACTERS } from '../content/model/names/names.policy.ts';
import { DEFAULT_MAX_UPLOAD_BYTES } from '../content/uploads/uploads.schema.ts';
import type { Feature } from '../feature/feature.ts';
import type { TenantServices } from '../feature/services.ts';
import { WelcomeView } from './welcome.schema.ts';
import { welcomeOf } from './welcome.sql.ts';

/** Shows a page everything that it needs to start, in one request. */
export const welcome: Feature = {
  name: 'welcome',
  create: (services) => ({
    endpoints: [
      endpoint({
        method: 'get',
        path: '/me',
        operationId: 'getWelcome',
        summary: 'Show the signed-in user, the tenant, and what the user may do there',
        tag: 'users',
        caller: 'user',
        replies: { 200: WelcomeView },
        errors: ['not_found'],
        handle: async ({ actor }) => reply(200, await show(services, actor)),
      }),
    ],
  }),
};

/** One statement. Throws `not_found` if the user was deleted meanwhile. */
async function show({ db, tenant, settings }: TenantServices, actor: Actor): Promise<WelcomeView> {
  const row = await welcomeOf(db.tables, actor.userId);
  if (!row) throw new Problem('not_found');
  const helpers = new Set(row.helpers);
  return {
    user: presentUser(row, tenant.id),
    tenant: { slug: tenant.slug, display_name: tenant.name ?? tenant.slug },
    permissions: [...actor.permissions].toSorted(),
    quota: { limit: row.storageQuota, used: row.storageUsed },
    features: {
      helpers: {
        translate: helpers.has('translate'),
        pdf_optimize: helpers.has('pdf_optimize'),
        pdf_translate: helpers.has('pdf_translate'),
      },
      share_links: row.linkPolicy.enabled,
      lti: row.hasLms,
      schedules: true,
    },
    limits: {
      max_upload_size: settings.maxUploadBytes ?? DEFAULT_MAX_UPLOAD_BYTES,
      name_length: NAME_MAX_CHARACTERS,
      share_links: {
        password_required: row.linkPolicy.passwordRequired,
        max_days: row.linkPolicy.maxDays,
        folder_uploads: row.linkPolicy.folderUploads,
      },
    },
  };
}
