import { expect, test } from '@jest/globals';
import { ensureAdministrator } from '../../../pkg/accounts/administrator.ts';
import { Passwords } from '../../../pkg/accounts/passwords.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { CLEAR_CACHES, TaggedCache } from '../../../pkg/store/redis/tagged-cache.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite();

const ensure = async (email: string, password: string): Promise<void> =>
  ensureAdministrator({ pool: tenant.rows.pool, clock: systemClock, random: systemRandom }, tenant.slug, {
    email,
    passwordHash: await new Passwords().hash(password),
  });

/** Does the requested work as the worker does. */
async function clearCaches(): Promise<void> {
  const work = await tenant.db.query<{ payload: { subjects: string[] } }>('SELECT payload FROM carrel.work WHERE kind = $1', [
    CLEAR_CACHES,
  ]);
  const cache = new TaggedCache({ redis: tenant.redis, random: systemRandom, log: silentLogger });
  for (const { payload } of work) await cache.clear(payload.subjects);
}

test('the administrator of the Secret who was stripped and renamed is shown and let in as one again', async () => {
  const { email, password } = tenant.administrator;
  const own = (await tenant.admin.get('/users/me')).body.id;
  const { api: other } = await tenant.user({ roles: ['admin'] });
  await other.patch(`/users/${own}`, { roles: ['member'], email: 'renamed@example.org', is_active: false });
  const listed = async (): Promise<unknown> => (await other.get('/users?username=admin')).body.data[0];
  expect(await listed()).toMatchObject({ roles: ['member'], is_active: false });

  await ensure(email, password);
  await clearCaches();

  expect(await listed()).toMatchObject({ id: own, email, roles: ['member', 'admin'], is_active: true });
  expect((await (await tenant.anonymous.login(email, password)).get('/users')).status).toBe(200);
});

test('a new password from the Secret ends the sessions of before, their access tokens too, however warm they are', async () => {
  const { email } = tenant.administrator;
  const before = await tenant.anonymous.login(email, tenant.administrator.password);
  await before.get('/users/me');

  await ensure(email, 'a new password');
  await clearCaches();

  const after = await tenant.anonymous.login(email, 'a new password');
  const refresh = await tenant.anonymous.post('/auth/refresh', { refresh_token: before.refreshToken });
  expect([(await before.get('/users/me')).status, refresh.status, (await after.get('/users/me')).status]).toEqual([
    401, 401, 200,
  ]);
});
