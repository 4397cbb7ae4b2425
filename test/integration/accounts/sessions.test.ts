import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { SessionView } from '../../../pkg/accounts/sessions/sessions.schema.ts';
import { Api, type ApiReply } from '../../support/clients/api.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { launched } from '../../support/lms/launched.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed, waitFor } from '../../support/wait.ts';

const { tenant, at } = lmsSuite();
type Person = Awaited<ReturnType<TestTenant['user']>>;

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const list = async (api: Api, query: Record<string, string | number> = {}): Promise<SessionView[]> =>
  (await api.get('/users/me/sessions', { query })).body.data;
const status = async (api: Api): Promise<number> => (await api.get('/users/me')).status;
async function again({ user, password }: Person, userAgent = 'curl/8'): Promise<Api> {
  const { body } = await tenant.anonymous.post(
    '/auth/login',
    { email: user.email, password },
    { headers: { 'user-agent': userAgent } },
  );
  return new Api(tenant.apiUrl, { token: body.access_token, refreshToken: body.refresh_token });
}
const idOf = async (api: Api): Promise<string> => (await list(api)).find(({ current }) => current)?.id ?? '';

describe('the list of sessions', () => {
  test('shows one’s own, the newest first, where they were opened, and which this one is', async () => {
    const ada = await tenant.user();
    const phone = await again(ada, `Phone/1 ${'x'.repeat(600)}`);

    const shown = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: TIME,
      last_activity: TIME,
      ip: '127.0.0.1',
      launch_id: null,
    };
    expect(await list(ada.api)).toEqual([
      { ...shown, user_agent: `Phone/1 ${'x'.repeat(492)}`, current: false },
      { ...shown, user_agent: null, current: true },
    ]);
    expect((await list(phone)).map(({ current }) => current)).toEqual([true, false]);
  });

  test('comes in pages that meet, for one statement and one round trip more than any request', async () => {
    const ada = await tenant.user();
    for (const _ of range(4)) await again(ada);
    await status(ada.api);
    const ids: string[] = [];
    let url = '/users/me/sessions?limit=2';
    for (;;) {
      const page = await tenant.counting(() => ada.api.get(url));
      expect([page.sql.length, page.redisTrips]).toEqual([1, 2]);
      ids.push(...page.reply.body.data.map(({ id }: SessionView) => id));
      const next = /^<([^>]+)>/.exec(page.reply.headers.link ?? '')?.[1];
      if (next === undefined) break;
      url = next;
    }

    expect([ids.length, new Set(ids).size]).toEqual([5, 5]);
    expect((await list(ada.api, { sort: 'created_at' })).map(({ id }) => id)).toEqual(ids.toReversed());
  });

  test('shows the last activity of a session that is in use, though its row was not written since', async () => {
    const ada = await tenant.user();
    const other = await again(ada);
    await status(other);
    const before = (await list(ada.api))[0] as SessionView;

    // It is written once a second.
    const after = await waitFor('a later activity', async () => {
      await status(other);
      const [shown] = (await list(ada.api)) as SessionView[];
      return shown !== undefined && shown.last_activity > before.last_activity && shown;
    });
    expect(after.id).toBe(before.id);
    const [row] = await tenant.db.query<{ at: Date }>('SELECT last_activity AS at FROM sessions WHERE id = $1', [after.id]);
    expect(row?.at.toISOString()).toBe(after.created_at);
  });

  test('has none that ended or expired', async () => {
    const ada = await tenant.user();
    const [out, old, oldest] = [await again(ada), await again(ada), await again(ada)];
    const [oldId, oldestId] = [await idOf(old), await idOf(oldest)];
    await out.post('/auth/logout');
    await tenant.db.query(`UPDATE sessions SET expires_at = now() - interval '1 minute' WHERE id = $1`, [oldId]);
    await tenant.db.query(`UPDATE sessions SET created_at = now() - interval '91 days' WHERE id = $1`, [oldestId]);

    expect((await list(ada.api)).map(({ current }) => current)).toEqual([true]);
    expect((await ada.api.delete(`/users/me/sessions/${oldId}`)).status).toBe(404);
  });
});

describe('ending a session', () => {
  test('ends its access and refresh tokens at once, though everything was warm, and no other session', async () => {
    const ada = await tenant.user();
    const other = await again(ada);
    const id = await idOf(other);
    await status(ada.api);

    const ended = await tenant.counting(() => ada.api.delete(`/users/me/sessions/${id}`));

    expect([ended.reply.status, ended.sql.filter((sql) => /UPDATE sessions/.test(sql)).length, ended.redisTrips]).toEqual([
      204, 1, 3,
    ]);
    expect([await status(other), await status(ada.api)]).toEqual([401, 200]);
    expect((await tenant.anonymous.post('/auth/refresh', { refresh_token: other.refreshToken })).status).toBe(401);
    expect((await ada.api.delete(`/users/me/sessions/${id}`)).status).toBe(404);
  });

  test('of this one signs out', async () => {
    const ada = await tenant.user();

    expect((await ada.api.delete(`/users/me/sessions/${await idOf(ada.api)}`)).status).toBe(204);
    expect(await status(ada.api)).toBe(401);
  });

  test('of all others leaves this one, and is done again without harm', async () => {
    const ada = await tenant.user();
    const others = [await again(ada), await again(ada)];

    expect([(await ada.api.delete('/users/me/sessions')).status, (await ada.api.delete('/users/me/sessions')).status]).toEqual([
      204, 204,
    ]);
    expect(await Promise.all([ada.api, ...others].map(status))).toEqual([200, 401, 401]);
    expect(await list(ada.api)).toHaveLength(1);
  });

  test('of 50 at once, one ends it', async () => {
    const ada = await tenant.user();
    const id = await idOf(await again(ada));

    const replies = await Promise.all(range(50).map(() => untilServed(() => ada.api.delete(`/users/me/sessions/${id}`))));

    expect(countBy(replies, (reply) => reply.status)).toEqual({ 204: 1, 404: 49 });
  });

  test('of somebody else, or of another tenant, is not found', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const other = await startTenant();
    try {
      const id = await idOf(bob.api);
      const replies: ApiReply[] = [
        await ada.api.delete(`/users/me/sessions/${id}`),
        await tenant.admin.delete(`/users/me/sessions/${id}`),
        await other.admin.delete(`/users/me/sessions/${id}`),
        await ada.api.delete(`/users/me/sessions/${randomUUID()}`),
      ];

      expect(replies.map((reply) => [reply.status, reply.body?.error])).toEqual(replies.map(() => [404, 'not_found']));
      expect((await tenant.anonymous.as(other.admin.token).get('/users/me/sessions')).status).toBe(401);
      expect((await ada.api.delete('/users/me/sessions/mine')).body.details[0].field).toBe('id');
      expect(await status(bob.api)).toBe(200);
    } finally {
      await other.stop();
    }
  });
});

test('a launch’s session sees and ends those of launches alone; a session of a sign-in sees all', async () => {
  const user = { id: 'sessions-of-launches' };
  const [first, second] = [await launched(tenant, at, { user }), await launched(tenant, at, { user })];
  const { id } = (await first.api.get('/users/me')).body;
  await tenant.admin.patch(`/users/${id}`, { email: 'launched@example.org', password: 'correct horse battery' });
  const third = await launched(tenant, at, { user });
  const signedIn = await tenant.anonymous.login('launched@example.org', 'correct horse battery');

  expect([await status(first.api), await status(second.api)]).toEqual([401, 401]); // a new password ends them
  expect(await list(third.api)).toMatchObject([{ launch_id: third.launchId, current: true, ip: '127.0.0.1' }]);
  expect((await third.api.delete(`/users/me/sessions/${await idOf(signedIn)}`)).status).toBe(404);
  expect((await third.api.delete('/users/me/sessions')).status).toBe(204);
  expect(await status(signedIn)).toBe(200);
  expect((await list(signedIn)).map(({ launch_id }) => launch_id)).toEqual([null, third.launchId]);
  await signedIn.delete('/users/me/sessions');
  expect(await status(third.api)).toBe(401);
});

test('an administrator ends all sessions of a person, who may sign in again, and of their own all but this one', async () => {
  const ada = await tenant.user();
  const [phone, admin] = [await again(ada), await tenant.user({ roles: ['admin'] })];
  const elsewhere = await again(admin);

  const refused = await ada.api.delete(`/users/${admin.user.id}/sessions`);
  const ended = await admin.api.delete(`/users/${ada.user.id}/sessions`);
  const own = await admin.api.delete(`/users/${admin.user.id}/sessions`);
  const nobody = await admin.api.delete(`/users/${randomUUID()}/sessions`);

  expect([refused.status, ended.status, own.status, nobody.status]).toEqual([403, 204, 204, 404]);
  expect([await status(ada.api), await status(phone), await status(elsewhere), await status(admin.api)]).toEqual([
    401, 401, 401, 200,
  ]);
  expect(await status(await again(ada))).toBe(200);
});
