import { expect, test } from '@jest/globals';
import { syncLinkPolicy } from '../../../pkg/settings/managed-settings.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range } from '../../support/wait.ts';

const tenant = serverSuite();

const DEFAULTS = { enabled: true, password_required: false, max_days: null, folder_uploads: true, managed_by: null };
const patch = (share_links: object, headers: Record<string, string> = {}, of: TestTenant = tenant) =>
  of.admin.patch('/settings', { share_links }, { headers });
const shardOf = ({ rows }: TestTenant) => ({ pool: rows.pool, clock: systemClock, random: systemRandom });

test('a tenant begins with the defaults; a change keeps the other fields, costs two statements and is written down', async () => {
  const fresh = await startTenant();
  await fresh.admin.get('/me');
  const before = await fresh.counting(() => fresh.admin.get('/settings'));
  const changed = await fresh.counting(() => patch({ max_days: 30, password_required: true }, {}, fresh));
  const again = await patch({ max_days: 30 }, {}, fresh);
  const cleared = await patch({ max_days: null }, {}, fresh);
  const { data } = (await fresh.admin.get('/audit', { query: { target_type: 'settings', sort: 'at' } })).body;
  await fresh.stop();

  expect([before.reply.status, before.sql.length]).toEqual([200, 1]);
  expect(before.reply.body).toEqual({
    share_links: DEFAULTS,
    tenant_resource: null,
    updated_at: null,
    etag: expect.any(String),
  });
  expect(before.reply.headers.etag).toBe(`"${before.reply.body.etag}"`);
  const strict = { ...DEFAULTS, max_days: 30, password_required: true };
  expect([changed.reply.status, changed.sql.filter((sql) => /settings/.test(sql)).length]).toEqual([200, 2]);
  expect(changed.reply.body).toMatchObject({ share_links: strict, updated_at: expect.stringMatching(/Z$/) });
  expect(again.body).toEqual(changed.reply.body);
  expect(cleared.body.share_links).toEqual({ ...strict, max_days: null });
  expect(data.map(({ action, target, changes }: Record<string, unknown>) => [action, target, changes])).toEqual([
    [
      'settings.update',
      { type: 'settings', id: null, name: null },
      { 'share_links.max_days': { from: null, to: 30 }, 'share_links.password_required': { from: false, to: true } },
    ],
    ['settings.update', { type: 'settings', id: null, name: null }, { 'share_links.max_days': { from: 30, to: null } }],
  ]);
});

test('one of ten changes that race with one entity tag is made', async () => {
  const { etag } = (await tenant.admin.get('/settings')).body;
  const replies = await Promise.all(range(10).map((day) => patch({ max_days: day + 1 }, { 'if-match': `"${etag}"` })));

  expect(countBy(replies, ({ status }) => String(status))).toEqual({ 200: 1, 412: 9 });
});

test('only administrators see and change settings', async () => {
  const { api } = await tenant.user({ roles: ['instructor'] });
  const replies = [
    await api.get('/settings'),
    await api.patch('/settings', { share_links: { enabled: false } }),
    await tenant.anonymous.get('/settings'),
  ];

  expect(replies.map(({ status, body }) => [status, body.error])).toEqual([
    [403, 'forbidden'],
    [403, 'forbidden'],
    [401, 'unauthenticated'],
  ]);
});

test.each<[string, unknown, string]>([
  ['nothing', {}, 'body'],
  ['no field of share links', { share_links: {} }, 'share_links'],
  ['no day', { share_links: { max_days: 0 } }, 'share_links.max_days'],
  ['eleven years', { share_links: { max_days: 3651 } }, 'share_links.max_days'],
  ['half a day', { share_links: { max_days: 1.5 } }, 'share_links.max_days'],
  ['a text for a boolean', { share_links: { enabled: 'yes' } }, 'share_links.enabled'],
  ['an unknown field', { share_links: { colour: 'red' } }, 'share_links.colour'],
  ['what manages it', { share_links: { managed_by: 'kubernetes' } }, 'share_links.managed_by'],
])('a change to %s is refused by the name of the field', async (_name, body, field) => {
  const reply = await tenant.admin.patch('/settings', body);

  expect([reply.status, reply.body.error, reply.body.details?.[0]?.field]).toEqual([400, 'validation_failed', field]);
});

test('settings of the resource are shown as managed and cannot be changed here until the resource omits them', async () => {
  const fresh = await startTenant();
  await fresh.restart({ CARREL_TENANT_RESOURCE: 'schools/north' });
  const wanted = { enabled: true, passwordRequired: true, maxDays: 7, folderUploads: false };
  await syncLinkPolicy(shardOf(fresh), fresh.slug, wanted);
  await syncLinkPolicy(shardOf(fresh), fresh.slug, wanted);
  const managed = (await fresh.admin.get('/settings')).body;
  const refused = await patch({ enabled: false }, {}, fresh);
  await syncLinkPolicy(shardOf(fresh), fresh.slug, undefined);
  const own = (await fresh.admin.get('/settings')).body;
  const changed = await patch({ max_days: 8 }, {}, fresh);
  const { data } = (await fresh.admin.get('/audit', { query: { action: 'settings.update', sort: 'at' } })).body;
  await fresh.stop();

  const policy = { enabled: true, password_required: true, max_days: 7, folder_uploads: false };
  expect(managed).toMatchObject({
    share_links: { ...policy, managed_by: 'kubernetes' },
    tenant_resource: 'schools/north',
  });
  expect([refused.status, refused.body.error, refused.body.message]).toEqual([
    403,
    'managed',
    'The Tenant resource (spec.shareLinks) sets the policy of share links; change it there.',
  ]);
  expect(own.share_links).toEqual({ ...policy, managed_by: null });
  expect([changed.status, changed.body.share_links.max_days]).toEqual([200, 8]);
  const actors = data.map(({ actor }: { actor: object }) => ('system' in actor ? 'system' : 'administrator'));
  expect(actors).toEqual(['system', 'system', 'administrator']);
});
