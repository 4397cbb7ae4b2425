import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTenant, type TestTenant } from '../../support/server.ts';
import { range } from '../../support/wait.ts';
import { launched } from './course.ts';
import { registeredLms, type Registration } from './registration.ts';

let tenant: TestTenant;
let at: Registration;
beforeAll(async () => {
  tenant = await startTenant();
  at = await registeredLms(tenant);
});
afterAll(async () => {
  await tenant?.stop();
  await at?.lms.stop();
});

test('a launch of more than 90 days ago goes with the launches that come; one with grades stays, and so does a younger one', async () => {
  const [old, graded, young] = [await launched(tenant, at), await launched(tenant, at), await launched(tenant, at)];
  await graded.api.post(graded.grades, { user_id: 'ben', score: 8.5, score_maximum: 10 });
  const age = (launchId: string, days: number) =>
    tenant.db.query(`UPDATE lti_launches SET launched_at = now() - make_interval(days => $2) WHERE launch_id = $1`, [launchId, days]);
  await age(old.launchId, 91);
  await age(graded.launchId, 91);
  await age(young.launchId, 89);

  const latest = await launched(tenant, at);

  const left = (await tenant.db.tables.ltiLaunches.list({})).map(({ launchId }) => launchId);
  expect(left.toSorted()).toEqual([graded, young, latest].map(({ launchId }) => launchId).toSorted());
});

test('sessions that ended by themselves go with the sessions that come, twenty at a time, with their refresh tokens', async () => {
  const { email, password } = tenant.administrator;
  const signIn = () => tenant.anonymous.post('/auth/login', { email, password });
  const person = await tenant.user();
  const living = await signIn();
  for (const _ of range(25)) await tenant.anonymous.post('/auth/login', { email: person.user.email, password: person.password });
  const over = `user_id = (SELECT id FROM users WHERE email = $1)`;
  const left = async () => (await tenant.db.query(`SELECT FROM sessions WHERE ${over}`, [person.user.email])).length;
  const before = await left();
  await tenant.db.query(`UPDATE sessions SET expires_at = now() - interval '25 hours' WHERE ${over}`, [person.user.email]);

  await signIn();
  const afterOne = await left();
  await signIn();

  expect([before - afterOne, await left()]).toEqual([20, 0]);
  expect(await tenant.db.query('SELECT FROM refresh_tokens t LEFT JOIN sessions s ON s.id = t.session_id WHERE s.id IS NULL')).toEqual([]);
  expect((await tenant.anonymous.post('/auth/refresh', { refresh_token: living.body.refresh_token })).status).toBe(200);
});

test('refresh tokens of a session that goes on go when they have been over for a day', async () => {
  const { user, password } = await tenant.user();
  const first = await tenant.anonymous.post('/auth/login', { email: user.email, password });
  await tenant.db.query(
    `UPDATE refresh_tokens SET expires_at = now() - interval '25 hours' WHERE session_id IN
    (SELECT id FROM sessions WHERE user_id = (SELECT id FROM users WHERE email = $1))`,
    [user.email],
  );

  const again = await tenant.anonymous.post('/auth/login', { email: user.email, password });

  const left = await tenant.db.query(
    `SELECT FROM refresh_tokens WHERE session_id IN (SELECT id FROM sessions WHERE user_id = (SELECT id FROM users WHERE email = $1))`,
    [user.email],
  );
  expect([first.status, again.status, left.length]).toEqual([200, 200, 1]);
});
