import { describe, expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { waitFor } from '../../support/wait.ts';

const tenant = serverSuite();

const openSessions = (id: string): Promise<unknown[]> =>
  tenant.db.query('SELECT FROM sessions s JOIN users u ON u.id = s.user_id WHERE u.uuid = $1 AND s.ended_at IS NULL', [id]);

/** The replies of `change`, which is held up in its midst until each of `others` waits for it or is through, and of `others`. */
async function during(
  userId: string,
  change: () => Promise<ApiReply>,
  others: readonly (() => Promise<ApiReply>)[],
  meanwhile = async (): Promise<void> => {},
): Promise<ApiReply[]> {
  let through = 0;
  const begun: Promise<ApiReply>[] = [];
  const begin = async (ask: () => Promise<ApiReply>, isThere: (blockers: number[][]) => boolean): Promise<void> => {
    const reply = ask().finally(() => (through += 1));
    begun.push(reply);
    await waitFor('a request to wait, or to be through', async () => {
      const waiting = await tenant.db.query<{ blockers: number[] }>(
        `SELECT pg_blocking_pids(pid) AS blockers FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND usename = current_user`,
      );
      return isThere(waiting.map(({ blockers }) => blockers));
    });
  };
  await tenant.db.transaction(async (tx) => {
    // The change ends the sessions last. It waits for this transaction, not for another lock on its way: only then is it before
    // the others.
    await tx.query('SELECT FROM sessions WHERE user_id = (SELECT id FROM users WHERE uuid = $1) FOR UPDATE', [userId]);
    const [self] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await begin(change, (waiting) => waiting.some((blockers) => self !== undefined && blockers.includes(self.pid)));
    expect(through).toBe(0);
    for (const other of others) await begin(other, (waiting) => waiting.length + through === begun.length);
    await meanwhile();
  });
  return Promise.all(begun);
}

describe.each<[string, number, (id: string) => Promise<ApiReply>]>([
  ['is given another password', 200, (id) => tenant.admin.patch(`/users/${id}`, { password: 'another good one' })],
  ['is deactivated', 200, (id) => tenant.admin.patch(`/users/${id}`, { is_active: false })],
  ['is deleted', 204, (id) => tenant.admin.delete(`/users/${id}`)],
])('who %s', (_what, status, change) => {
  test('while they sign in has no session from it', async () => {
    const { user, password } = await tenant.user();

    const [changed, login] = await during(user.id, () => change(user.id), [
      () => tenant.anonymous.post('/auth/login', { email: user.email, password }),
    ]);

    expect([changed?.status, login?.status, login?.body.error]).toEqual([status, 401, 'invalid_credentials']);
    expect(await openSessions(user.id)).toEqual([]);
  });

  test('while they refresh has no session from it', async () => {
    const { user, api } = await tenant.user();

    const [changed, refresh] = await during(user.id, () => change(user.id), [
      () => tenant.anonymous.post('/auth/refresh', { refresh_token: api.refreshToken }),
    ]);

    expect([changed?.status, refresh?.status, refresh?.body.error]).toEqual([status, 401, 'invalid_refresh_token']);
    expect(await openSessions(user.id)).toEqual([]);
  });
});

test('a password that was reset meanwhile is not overwritten by who knew the former one', async () => {
  const { user, password, api } = await tenant.user();

  const [reset, own] = await during(user.id, () => tenant.admin.patch(`/users/${user.id}`, { password: 'of the reset' }), [
    () => api.post('/users/me/password', { current_password: password, new_password: 'of the thief' }),
  ]);

  const login = await tenant.anonymous.post('/auth/login', { email: user.email, password: 'of the reset' });
  expect([reset?.status, own?.status, own?.body?.error, login.status]).toEqual([200, 401, 'invalid_credentials', 200]);
});

test('a refresh locks no token while it waits for its session, so the deletion of its user need not wait', async () => {
  const { user, api } = await tenant.user();
  const unlocked = (): Promise<unknown[]> =>
    tenant.db.query(
      `SELECT FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id JOIN users u ON u.id = s.user_id WHERE u.uuid = $1
       FOR UPDATE OF t SKIP LOCKED`,
      [user.id],
    );
  let tokens: unknown[] = [];

  const [refresh] = await during(
    user.id,
    () => tenant.anonymous.post('/auth/refresh', { refresh_token: api.refreshToken }),
    [],
    async () => void (tokens = await unlocked()),
  );

  expect(tokens).toHaveLength(1);
  expect(refresh?.status).toBe(200);
});
