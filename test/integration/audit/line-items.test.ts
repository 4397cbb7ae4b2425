import { expect, test } from '@jest/globals';
import type { AuditEntry } from '../../../pkg/audit/audit.schema.ts';
import { recordOverdueChanges } from '../../../pkg/lti/line-items/overdue-changes.ts';
import { silentLogger as log } from '../../../pkg/runtime/log.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { quoteIdentifier } from '../../../pkg/store/postgres/pool.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { lostReplies } from '../../support/fakes/lost-replies.ts';
import { waitFor } from '../../support/wait.ts';
import { coursesOf, ITEM } from '../lti/line-items.ts';

const { tenant, at } = lmsSuite();
const course = coursesOf(tenant, () => at);
const entries = async (query: Record<string, string>): Promise<AuditEntry[]> =>
  (await tenant.admin.get('/audit', { query: { sort: 'at', ...query } })).body.data;
/** Returns the content of an entry, without its time and id. */
const said = ({ action, actor, target, changes }: AuditEntry) => ({ action, actor, target: target.name, changes });
const stored = () => tenant.db.query('SELECT FROM lti_line_item_changes');

type Change = (api: Api, items: string, id: string) => Promise<ApiReply>;
const CHANGES: readonly [string, string, number, Change][] = [
  ['create', 'POST', 201, (api, items) => api.post(items, { ...ITEM, label: 'Held' })],
  ['update', 'PUT', 200, (api, items, id) => api.put(`${items}/${id}`, { ...ITEM, label: 'Held' })],
  ['delete', 'DELETE', 204, (api, items, id) => api.delete(`${items}/${id}`)],
];

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

/** The LMS has done what it is asked, and answers when `answer` is called. */
async function heldAtLms(
  method: string,
  change: () => Promise<ApiReply>,
): Promise<{ changing: Promise<ApiReply>; answer(): void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { lineItems } = at.lms;
  const before = lineItems.received.length;
  lineItems.held = { method, until: promise };
  const changing = change();
  await waitFor('the LMS to do it', () =>
    lineItems.received.slice(before).some((request) => request.method === method && request.status !== undefined),
  );
  return {
    changing,
    answer: () => {
      lineItems.held = undefined;
      resolve();
    },
  };
}

test.each(CHANGES)(
  'a line item whose %s the LMS has done while Postgres was unavailable has its entry when Postgres is back',
  async (what, method, status, change) => {
    const { api, items, make } = await course();
    const { id } = await make();
    const { changing, answer } = await heldAtLms(method, () => change(api, items, id));

    await withoutPostgres(async () => {
      answer();
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
  expect(await stored()).toEqual([]);
});

/** Runs the worker's hourly job, as if some time had passed. */
async function laterOn(): Promise<void> {
  await tenant.db.query(`UPDATE lti_line_item_changes SET asked_at = '2026-01-01T00:00:00Z'`);
  const db = new Database({ url: testBackends().stores.postgres.worker, poolSize: 1, log });
  // Tenants of other files are on the shard too, and may go meanwhile.
  const fail: Parameters<typeof recordOverdueChanges.run>[1] = (error, { role }) => {
    if (role === tenantRole(tenant.slug)) throw error;
  };
  await recordOverdueChanges.run({ shards: new Map([['main', { db }]]) } as never, fail);
  await db.close();
}

test.each(CHANGES)(
  'a line item whose %s the LMS has done while Postgres was unavailable for longer has an entry later that says who ' +
    'asked, and that the outcome is unknown',
  async (what, method, _status, change) => {
    const { api, items, make, id: context } = await course();
    const { id } = await make();
    const me = (await api.get('/users/me')).body;
    const { changing, answer } = await heldAtLms(method, () => change(api, items, id));
    let reply: ApiReply | undefined;

    await withoutPostgres(async () => {
      answer();
      reply = await changing;
    });
    const before = await entries({ action: `line_item.${what}`, actor: me.id });
    await laterOn();
    await laterOn();

    expect([reply?.status, reply?.body.error]).toEqual([502, 'lms_failed']);
    const found = (await entries({ action: `line_item.${what}`, actor: me.id })).slice(before.length);
    const unknown = {
      outcome: { from: null, to: 'unknown' },
      asked_at: { from: null, to: expect.stringMatching(/^2026-01-01T00:00:00/) },
    };
    expect(found.map(said)).toEqual([
      {
        action: `line_item.${what}`,
        actor: { id: me.id, name: expect.any(String) },
        target: what === 'delete' ? 'Essay' : 'Held',
        changes: {
          create: {
            ...unknown,
            context_id: { from: null, to: context },
            label: { from: null, to: 'Held' },
            score_maximum: { from: null, to: 10 },
          },
          update: { ...unknown, label: { from: 'Essay', to: 'Held' } },
          delete: { ...unknown, context_id: { from: context, to: null } },
        }[what],
      },
    ]);
    expect(await stored()).toEqual([]);
  },
);

const proxy = fixture(
  () => lostReplies(tenant.config.CARREL_DATABASE_URL),
  async (made) => made.close(),
);

test.each(CHANGES)(
  'a line item whose %s is recorded, and the reply of Postgres lost, has one entry',
  async (what, _method, status, change) => {
    await tenant.restart({ CARREL_DATABASE_URL: proxy.through(tenant.config.CARREL_DATABASE_URL) });
    const { api, items, make } = await course();
    const { id } = await make();
    const before = proxy.lost;

    proxy.loseReplyTo('carrel.audit_line_item');
    const reply = await change(api, items, id);

    expect([reply.status, proxy.lost]).toEqual([status, before + 1]);
    const found = await entries({ target_id: reply.body?.id ?? id });
    expect(found.filter(({ action }) => action === `line_item.${what}`)).toHaveLength(1);
    expect(await stored()).toEqual([]);
  },
);
