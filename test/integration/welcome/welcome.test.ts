import { expect, test } from '@jest/globals';
import { syncHelpers } from '../../../pkg/helper-services/managed-helpers.ts';
import { DEFAULT_MAX_UPLOAD_BYTES } from '../../../pkg/content/uploads/uploads.schema.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { startTenant } from '../../support/programs/server.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite({ name: 'Biology', maxUploadBytes: 5_000_000 });

test('a page gets everything that it needs to start by one request and one statement', async () => {
  const { api } = await tenant.user({ storage_quota: 1_000 });
  await api.upload('/files', { name: 'a.txt', file: Buffer.alloc(20) });
  const user = (await api.get('/users/me')).body;

  const { reply, sql } = await tenant.counting(() => api.get('/me'));

  expect([reply.status, sql.length]).toEqual([200, 1]);
  expect(reply.body).toEqual({
    user,
    tenant: { slug: tenant.slug, display_name: 'Biology' },
    permissions: ['read:files', 'read:folders', 'share:files', 'write:files', 'write:folders'],
    quota: { limit: 1_000, used: 20 },
    features: {
      helpers: { translate: false, pdf_optimize: false, pdf_translate: false },
      share_links: true,
      lti: false,
      schedules: true,
    },
    limits: {
      max_upload_size: 5_000_000,
      name_length: 255,
      share_links: { password_required: false, max_days: null, folder_uploads: true },
    },
  });
});

test('helper services and LMSs of the tenant show at once', async () => {
  await syncHelpers(tenant.rows, [{ kind: 'pdf_optimize', url: 'https://helpers.example.org', token: null }]);
  const { lms } = await registeredLms(tenant);
  const registered = (await tenant.admin.get('/me')).body.features;
  await syncHelpers(tenant.rows, []);
  await tenant.db.query('UPDATE lti_platforms SET is_active = false');
  const inactive = (await tenant.admin.get('/me')).body.features;
  await lms.stop();

  const none = { translate: false, pdf_optimize: false, pdf_translate: false };
  expect(registered).toMatchObject({ helpers: { ...none, pdf_optimize: true }, lti: true });
  expect(inactive).toMatchObject({ helpers: none, lti: false });
});

test('the policy of share links shows at once', async () => {
  await tenant.admin.patch('/settings', { share_links: { enabled: false, max_days: 7 } });
  const { features, limits } = (await tenant.admin.get('/me')).body;

  expect([features.share_links, limits.share_links]).toEqual([
    false,
    { password_required: false, max_days: 7, folder_uploads: true },
  ]);
});

test('an administrator has the permissions of the role, and a tenant without a name shows its slug', async () => {
  const unnamed = await startTenant();
  const { body } = await unnamed.admin.get('/me');
  const anonymous = await unnamed.anonymous.get('/me');
  await unnamed.stop();

  expect(body.permissions).toEqual((body.permissions as string[]).toSorted());
  expect(body.permissions).toEqual(expect.arrayContaining(['write:users', 'read:audit', 'write:schedules']));
  expect(body.tenant).toEqual({ slug: unnamed.slug, display_name: unnamed.slug });
  expect(body.limits.max_upload_size).toBe(DEFAULT_MAX_UPLOAD_BYTES);
  expect([anonymous.status, anonymous.body.error]).toEqual([401, 'unauthenticated']);
});
