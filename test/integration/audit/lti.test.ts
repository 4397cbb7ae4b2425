import { expect, test } from '@jest/globals';
import type { AuditEntry } from '../../../pkg/audit/audit.schema.ts';
import { markCopied } from '../../../pkg/lti/links/course-copies.sql.ts';
import { quoteIdentifier } from '../../../pkg/store/postgres/pool.ts';
import type { Api, ApiReply } from '../../support/api.ts';
import { INSTRUCTOR } from '../../support/lms/claims.ts';
import { FACES } from '../../support/lms/faces.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { opensLink, placedFor } from '../../support/lms/placed.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { waitFor } from '../../support/wait.ts';
import { newLink, registered } from '../lti/registering.ts';
import { coursesOf, ITEM } from '../lti/line-items.ts';

const { tenant, at } = lmsSuite();
const course = coursesOf(tenant, () => at);
const entries = async (query: Record<string, string>): Promise<AuditEntry[]> =>
  (await tenant.admin.get('/audit', { query: { sort: 'at', ...query } })).body.data;
/** What an entry says, without when and which. */
const said = ({ action, actor, target, changes }: AuditEntry) => ({ action, actor, target: target.name, changes });

test('the audit log says who made, changed and deleted a line item in the LMS, and in which course', async () => {
  const { api, id: context, items } = await course();
  const me = (await api.get('/users/me')).body;
  const { id } = (await api.post(items, { ...ITEM, tag: 'grade' })).body;
  await api.put(`${items}/${id}`, { ...ITEM, label: 'Report', tag: 'grade' }, { headers: { 'x-request-id': 'a-change' } });
  await api.delete(`${items}/${id}`);

  const found = await entries({ target_id: id });
  const actor = { id: me.id, name: expect.any(String) };
  expect(found.map(said)).toEqual([
    {
      action: 'line_item.create',
      actor,
      target: 'Essay',
      changes: {
        context_id: { from: null, to: context },
        label: { from: null, to: 'Essay' },
        score_maximum: { from: null, to: 10 },
        tag: { from: null, to: 'grade' },
      },
    },
    { action: 'line_item.update', actor, target: 'Report', changes: { label: { from: 'Essay', to: 'Report' } } },
    { action: 'line_item.delete', actor, target: 'Report', changes: { context_id: { from: context, to: null } } },
  ]);
  expect(found[1]).toMatchObject({ target: { type: 'line_item', id }, request_id: 'a-change' });
});

/** Postgres ends the tenant's connections, and takes no new ones while `work` runs. */
async function withoutPostgres(work: () => Promise<unknown>): Promise<void> {
  const [found] = await tenant.db.query<{ role: string }>('SELECT session_user AS role');
  const role = found?.role ?? '';
  const operator = tenant.rows.pool;
  await operator.query(`ALTER ROLE ${quoteIdentifier(role)} NOLOGIN`);
  await operator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
  try {
    await work();
  } finally {
    await operator.query(`ALTER ROLE ${quoteIdentifier(role)} LOGIN`);
  }
}

test.each<[string, string, number, (api: Api, items: string, id: string) => Promise<ApiReply>]>([
  ['create', 'POST', 201, (api, items) => api.post(items, { ...ITEM, label: 'Held' })],
  ['update', 'PUT', 200, (api, items, id) => api.put(`${items}/${id}`, { ...ITEM, label: 'Held' })],
  ['delete', 'DELETE', 204, (api, items, id) => api.delete(`${items}/${id}`)],
])(
  'a line item whose %s the LMS has done while Postgres was unavailable has its entry when Postgres is back',
  async (what, method, status, change) => {
    const { api, items, make } = await course();
    const { id } = await make();
    const { promise, resolve } = Promise.withResolvers<void>();
    const { lineItems } = at.lms;
    const before = lineItems.received.length;
    lineItems.held = { method, until: promise };

    const changing = change(api, items, id);
    await waitFor('the LMS to do it', () =>
      lineItems.received.slice(before).some((request) => request.method === method && request.status !== undefined),
    );
    await withoutPostgres(async () => {
      lineItems.held = undefined;
      resolve();
      await waitFor('the server to miss Postgres', async () => (await api.get('/lti/contexts')).status === 503);
    });
    const reply = await changing;

    expect(reply.status).toBe(status);
    const found = await entries({ target_id: reply.body?.id ?? id });
    expect(found.at(-1)?.action).toBe(`line_item.${what}`);
  },
);

test('a line item that is only seen, refused by the LMS or gone there already is no entry of a change', async () => {
  const { api, items, make } = await course();
  const { id } = await make();
  await api.get(items);
  const [seen] = (await api.get(items)).body.data.filter((item: { id: string }) => item.id !== id);
  const refused = await api.put(`${items}/${seen.id}`, { ...ITEM, resource_link_id: 'another' });

  expect(refused.status).toBe(400);
  expect(await entries({ target_id: seen.id })).toEqual([]);
});

test('the audit log says which instructor made a course the copy of another, or that the platform said so', async () => {
  const origin = { id: 'audited-origin', title: 'Origin' };
  const copy = { id: 'audited-copy', title: 'Copy' };
  const teacher = await launched(tenant, at, { user: { id: 'prof' }, roles: [INSTRUCTOR], course: origin });
  const file = (await teacher.api.upload('/files', { name: 'a.txt', file: Buffer.from('x') })).body.id;
  const custom = await placedFor(tenant, at, teacher, file);
  await opensLink(tenant, at, { user: { id: 'prof' }, roles: [INSTRUCTOR], course: copy, custom, resourceLinkId: 'copied' });
  await tenant.db.transaction((tx) => markCopied(tx, at.platformId, 'audited-second', [origin.id]));
  const found = await entries({ action: 'course.adopt' });

  const { data } = (await tenant.admin.get('/lti/contexts')).body as { data: { id: string; lms_id: string }[] };
  const idOf = (lmsId: string) => data.find(({ lms_id }) => lms_id === lmsId)?.id;
  const me = (await teacher.api.get('/users/me')).body;
  const changes = { origin_id: { from: null, to: idOf(origin.id) }, origin_lms_id: { from: null, to: origin.id } };
  expect(found.map(said)).toEqual([
    { action: 'course.adopt', actor: { id: me.id, name: expect.any(String) }, target: 'Copy', changes },
    { action: 'course.adopt', actor: { system: true }, target: 'audited-second', changes },
  ]);
  expect(found.map(({ target, request_id }) => [target.type, target.id, request_id])).toEqual([
    ['group', idOf(copy.id), expect.any(String)],
    ['group', null, null],
  ]);
});

test('the audit log says who made a registration link, and which LMS used it from where, and nothing of its secret', async () => {
  const link = await newLink(tenant, 'Sakai');
  const desk = new RegistrationDesk(at.lms, FACES.sakai);
  const page = await registered(tenant, desk, link);
  const found = await entries({ target_type: 'registration_link' });
  const me = (await tenant.admin.get('/users/me')).body;

  expect(page.status).toBe(200);
  expect(found.map(said)).toEqual([
    {
      action: 'registration_link.create',
      actor: { id: me.id, name: expect.any(String) },
      target: 'Sakai',
      changes: { expires_at: { from: null, to: expect.any(String) } },
    },
    {
      action: 'registration_link.use',
      actor: null,
      target: 'Sakai',
      changes: { issuer: { from: null, to: at.lms.issuer }, client_id: { from: null, to: desk.tools[0]?.clientId } },
    },
  ]);
  expect(found[1]).toMatchObject({ ip: expect.any(String), request_id: expect.any(String), target: { id: found[0]?.target.id } });
  const secret = link.split('/').at(-1) ?? '';
  expect(JSON.stringify(await entries({}))).not.toContain(secret);
});
