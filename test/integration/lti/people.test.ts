import { beforeAll, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { Tx } from '../../../pkg/store/postgres/database.ts';
import { Browser, follow, type PageShown, toTheForm } from '../../support/lms/browser.ts';
import { INSTRUCTOR, type Launch, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { registeredLms } from '../../support/lms/registration.ts';

const { tenant, at } = lmsSuite();
beforeAll(async () => {
  await addWebhook(tenant, { events: ['user.created', 'user.updated'] });
});

const launch = (opened: Partial<Launch>, by = at): Promise<PageShown> => follow(new Browser(), by.lms.open(by.clientId, opened));
const personOf = async (subject: string) => {
  const identity = await tenant.db.tables.ltiIdentities.find({ subject });
  return tenant.db.tables.users.find({ id: identity?.userId ?? 0 });
};
const eventsOf = async (id: string | undefined) => (await writtenEvents(tenant)).filter(({ data }) => data.id === id);

test('a first launch gives user.created, a new role user.updated, and any other launch none', async () => {
  const user = { id: 'reported', name: 'Ada Lovelace', email: 'reported@example.org' };
  for (const role of [LEARNER, LEARNER, INSTRUCTOR, INSTRUCTOR, LEARNER]) await launch({ user, roles: [role] });

  const events = await eventsOf((await personOf('reported'))?.uuid);

  expect(events.map(({ event, data }) => [event, data.display_name, data.roles, data.changes])).toEqual([
    ['user.created', 'Ada Lovelace', ['member'], undefined],
    ['user.updated', 'Ada Lovelace', ['member', 'instructor'], ['roles']],
  ]);
});

test('ten first launches of one person give user.created once', async () => {
  await Promise.all(range(10).map(() => launch({ user: { id: 'reported-once' } })));

  expect((await eventsOf((await personOf('reported-once'))?.uuid)).map(({ event }) => event)).toEqual(['user.created']);
});

/** A launch up to the form that its browser is about to post. */
async function aboutToLaunch(opened: Partial<Launch>, by = at): Promise<() => Promise<PageShown>> {
  const browser = new Browser();
  const form = await toTheForm(browser, by.lms.open(by.clientId, opened));
  if ('ended' in form) throw new Error(form.ended.text);
  return () => browser.post(form.action, form.fields);
}

const lockedUser = (tx: Tx, subject = ''): Promise<unknown> =>
  tx.query('SELECT FROM users WHERE id IN (SELECT user_id FROM lti_identities WHERE subject = $1) FOR UPDATE', [subject]);

async function untilBlocked(tx: Tx): Promise<void> {
  const [{ pid } = { pid: 0 }] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await waitFor('a launch to wait', async () => {
    const blocked = await tenant.db.query('SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))', [pid]);
    return blocked.length > 0;
  });
}

/** Runs `change` while a launch that has read what it needs waits, without locks, for its user or its registration. */
async function meanwhile(change: (tx: Tx) => Promise<unknown>, opened: Partial<Launch>, by = at): Promise<PageShown> {
  const post = await aboutToLaunch(opened, by);
  const page = await tenant.db.transaction(async (tx) => {
    await lockedUser(tx, opened.user?.id);
    await tx.query('SELECT FROM lti_tools WHERE id = $1 FOR UPDATE', [by.toolId]);
    const posted = post();
    await untilBlocked(tx);
    await change(tx);
    return { posted };
  });
  return page.posted;
}

test('a launch whose person is locked waits alone: those that come with it do not', async () => {
  const ids = range(6).map((number) => `beside-${number}`);
  for (const id of ids) await launch({ user: { id } });
  const [held, ...others] = await Promise.all(ids.map((id) => aboutToLaunch({ user: { id } })));
  if (!held) throw new Error('no launch is prepared');

  const { waiting, pages } = await tenant.db.transaction(async (tx) => {
    await lockedUser(tx, ids[0]);
    const waiting = held();
    const pages = await Promise.all(others.map((post) => post()));
    await untilBlocked(tx);
    return { waiting: { waiting }, pages };
  });

  expect(pages.map(({ status }) => status)).toEqual(others.map(() => 303));
  expect((await waiting.waiting).status).toBe(303);
});

test('launches that come together have each its own request in the audit log, whether their person is new or known', async () => {
  const ids = range(8).map((number) => `audited-${number}`);
  for (const id of ids.slice(4)) await launch({ user: { id } });
  const posts = await Promise.all(ids.map((id) => aboutToLaunch({ user: { id } })));

  const pages = await Promise.all(posts.map((post) => post()));

  const launches = pages.map(({ headers }) => {
    const token = new URL(String(headers.location)).searchParams.get('token') ?? '';
    return { launch: String(decodeJwt(token).launch_id), request: String(headers['x-request-id']) };
  });
  const entries = await tenant.db.query(
    `SELECT changes -> 'launch_id' ->> 'to' AS launch, request_id AS request FROM audit_entries
     WHERE action = 'session.create' AND changes -> 'launch_id' ->> 'to' = ANY ($1) AND actor_id IS NOT NULL`,
    [launches.map(({ launch: id }) => id)],
  );
  expect(new Set(launches.map(({ request }) => request)).size).toBe(ids.length);
  expect(entries).toHaveLength(ids.length);
  expect(entries).toEqual(expect.arrayContaining(launches));
});

test('a launch by a registration that is deleted meanwhile is refused alone: those that come with it are not', async () => {
  const own = await registeredLms(tenant);
  const ids = range(5).map((number) => `not-too-late-${number}`);
  await launch({ user: { id: 'alone' } }, own);
  for (const id of ids) await launch({ user: { id } });
  const others = await Promise.all(ids.map((id) => aboutToLaunch({ user: { id } })));
  const late = await aboutToLaunch({ user: { id: 'alone' } }, own);

  const { posted } = await tenant.db.transaction(async (tx) => {
    await tx.query('SELECT FROM lti_tools WHERE id = $1 FOR UPDATE', [own.toolId]);
    const posted = Promise.all([late(), ...others.map((post) => post())]);
    await untilBlocked(tx);
    await tx.ltiTools.delete({ id: own.toolId });
    return { posted: { posted } };
  });
  const [refused, ...pages] = await posted.posted;
  await own.lms.stop();

  expect(refused?.code).toBe('registration_inactive');
  expect(pages.map(({ status }) => status)).toEqual(others.map(() => 303));
});

test.each([true, false])('a registration that is deleted while somebody launches (known: %s) lets nobody in', async (isKnown) => {
  const own = await registeredLms(tenant);
  const user = { id: `too-late-${isKnown}` };
  if (isKnown) await launch({ user }, own);
  const before = await tenant.db.tables.sessions.count({});

  const page = await meanwhile((tx) => tx.ltiTools.delete({ id: own.toolId }), { user }, own);
  await own.lms.stop();

  expect([page.status, page.code]).toEqual([403, 'registration_inactive']);
  expect(await tenant.db.tables.sessions.count({})).toBe(before);
  expect((await personOf(user.id)) !== null).toBe(isKnown);
});

test('a person who is deleted while they launch is refused, and made again by the next launch', async () => {
  const user = { id: 'deleted' };
  await launch({ user });
  const id = (await personOf('deleted'))?.id ?? 0;

  const page = await meanwhile((tx) => tx.users.delete({ id }), { user });
  const next = await launch({ user });

  expect([page.status, page.code, next.status]).toEqual([403, 'user_inactive', 303]);
});

test('a person who is deactivated while they launch, and of whom nothing is new, is refused and has no session', async () => {
  const user = { id: 'deactivated' };
  await launch({ user });
  const id = (await personOf('deactivated'))?.id ?? 0;
  const before = await tenant.db.tables.sessions.count({ userId: id });

  const page = await meanwhile((tx) => tx.users.update({ id }, { isActive: false }), { user });

  expect([page.status, page.code, await tenant.db.tables.sessions.count({ userId: id })]).toEqual([403, 'user_inactive', before]);
});

test('a role that is taken away while its person launches is not given back, and who is deactivated gets none', async () => {
  const user = { id: 'resigning' };
  await launch({ user });
  const id = (await personOf('resigning'))?.id ?? 0;
  await tenant.db.tables.users.update({ id }, { roles: ['admin', 'member'] });

  const resigned = await meanwhile((tx) => tx.users.update({ id }, { roles: ['member'] }), { user, roles: [INSTRUCTOR] });
  const roles = (await personOf('resigning'))?.roles;
  await tenant.db.tables.users.update({ id }, { roles: ['member'] });
  const deactivated = await meanwhile((tx) => tx.users.update({ id }, { isActive: false }), { user, roles: [INSTRUCTOR] });

  expect([resigned.status, roles]).toEqual([303, ['member', 'instructor']]);
  expect([deactivated.code, (await personOf('resigning'))?.roles]).toEqual(['user_inactive', ['member']]);
});
