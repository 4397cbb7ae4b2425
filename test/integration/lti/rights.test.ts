import { expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { ensureAdministrator } from '../../../pkg/accounts/administrator.ts';
import { Passwords } from '../../../pkg/accounts/passwords.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { Api } from '../../support/clients/api.ts';
import { INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { startTenant } from '../../support/programs/server.ts';
import { launched } from '../../support/lms/launched.ts';
import { registeredLms } from '../../support/lms/registration.ts';

const { tenant, at } = lmsSuite();

const rolesIn = (api: Api): unknown => decodeJwt(String(api.token)).roles;

/** Sets the administrator as the operator does for a new or changed Secret. */
const reset = async (email: string, password: string, of = tenant): Promise<void> =>
  ensureAdministrator({ pool: of.rows.pool, clock: systemClock, random: systemRandom }, of.slug, {
    email,
    passwordHash: await new Passwords().hash(password),
  });

/** An account with a password whose person is also known to the LMS, as `sub`. */
async function linked(sub: string, roles: string[]) {
  const made = await tenant.user({ roles });
  const row = await tenant.db.tables.users.find({ uuid: made.user.id });
  await tenant.db.tables.ltiIdentities.insert({ platformId: at.platformId, subject: sub, userId: row?.id ?? 0 });
  return made;
}

test('an LMS user with the administrator’s address stays a separate user, also when the administrator is reset', async () => {
  const school = await startTenant();
  const lms = await registeredLms(school);
  const { email } = school.administrator;
  const own = await school.admin.get('/users/me');
  await school.admin.patch(`/users/${own.body.id}`, { email: 'head@school.example' });
  const user = { id: 'student', email };

  const before = await launched(school, lms, { user, roles: [LEARNER] });
  const shown = (await before.api.get('/users/me')).body;
  await reset(email, 'the password of the Secret', school);
  const after = await launched(school, lms, { user, roles: [LEARNER] });
  const listed = await after.api.get('/users');
  const administrator = await school.anonymous.login(email, 'the password of the Secret');
  const me = await administrator.get('/users/me');
  await Promise.all([school.stop(), lms.lms.stop()]);

  expect([shown.email, shown.contact_email]).toEqual([expect.stringMatching(/@lti\.invalid$/), email]);
  expect([rolesIn(after.api), listed.status]).toEqual([['member'], 403]);
  expect(me.body).toMatchObject({ id: own.body.id, email, roles: ['admin'] });
});

test('an account that has the Secret’s address by an administrator is left alone, and the operator reports it', async () => {
  const { user, password } = await tenant.user({ email: 'wanted@school.example' });

  await expect(reset('Wanted@school.example', 'the password of the Secret')).rejects.toThrow('Wanted@school.example');

  const still = await tenant.anonymous.login(user.email, password);
  expect((await still.get('/users/me')).body).toMatchObject({ id: user.id, roles: ['member'] });
});

test('an administrator who launches has only the launch’s rights in token, session and permission set', async () => {
  const { api, user, password } = await linked('principal', ['admin']);
  await api.get('/users');

  const { api: launch } = await launched(tenant, at, { user: { id: 'principal' }, roles: [INSTRUCTOR] });
  const refused = await Promise.all([
    launch.get('/users'),
    launch.get(`/users/${(await tenant.admin.get('/users/me')).body.id}`),
    launch.post('/users', { email: 'made@school.example', username: 'made' }),
    launch.patch(`/users/${user.id}`, { roles: ['admin'] }),
    launch.get('/webhooks'),
    launch.get('/users'), // warm
  ]);
  const byPassword = await tenant.anonymous.login(user.email, password);

  expect(rolesIn(launch)).toEqual(['instructor']);
  expect(refused.map(({ status }) => status)).toEqual([403, 404, 403, 403, 403, 403]);
  expect([(await api.get('/users')).status, (await byPassword.get('/users')).status]).toEqual([200, 200]);
  expect((await launch.get('/users/me')).status).toBe(200);
  expect((await launch.get('/users')).status).toBe(403);
});

test('an instructor of one course who launches as a learner of another gives no grades in that session', async () => {
  const teaching = await launched(tenant, at, { user: { id: 'both' }, course: { id: 'own', title: 'Own' }, roles: [INSTRUCTOR] });
  const learning = await launched(tenant, at, {
    user: { id: 'both' },
    course: { id: 'other', title: 'Other' },
    roles: [LEARNER],
  });
  const grade = { user_id: 'both', score: 10, score_maximum: 10 };

  expect([rolesIn(teaching.api), rolesIn(learning.api)]).toEqual([['instructor'], ['member']]);
  expect((await learning.api.post(teaching.grades, grade)).status).toBe(403);
  expect((await teaching.api.post(teaching.grades, grade)).status).toBe(201);
});

test('an administrator’s launch session does not see others’ launches', async () => {
  await linked('curious', ['admin']);
  const others = await launched(tenant, at, { user: { id: 'somebody' }, course: { id: 'private', title: 'Private' } });
  const { api } = await launched(tenant, at, { user: { id: 'curious' }, course: { id: 'elsewhere', title: 'Elsewhere' } });

  expect((await api.get(`/lti/launches/${others.launchId}`)).status).toBe(404);
  expect((await tenant.admin.get(`/lti/launches/${others.launchId}`)).status).toBe(200);
});

test('rights taken from the account are taken from its launch’s session', async () => {
  const { api } = await launched(tenant, at, { user: { id: 'stripped' }, roles: [INSTRUCTOR] });
  const { id } = (await api.get('/users/me')).body;
  const upload = () => api.upload('/files', { file: Buffer.from('x'), name: `${systemRandom.hex(4)}.txt` });

  const before = await upload();
  await tenant.admin.patch(`/users/${id}`, { roles: ['viewer'] });

  expect([before.status, (await upload()).status]).toEqual([201, 403]);
});

test('a password wants an address that an administrator has set', async () => {
  const { api } = await launched(tenant, at, { user: { id: 'no-address', email: 'somewhere@example.org' } });
  const { id } = (await api.get('/users/me')).body;
  const password = 'correct horse battery';

  const without = await tenant.admin.patch(`/users/${id}`, { password });
  const both = await tenant.admin.patch(`/users/${id}`, { password, email: 'here@example.org' });

  expect([without.status, without.body.details[0].field, both.status]).toEqual([400, 'password', 200]);
  expect((await (await tenant.anonymous.login('here@example.org', password)).get('/users/me')).body.id).toBe(id);
});

test('a launch’s session with the key and body of a request does not get the reply of the person’s other session', async () => {
  const { api } = await linked('twice', ['member']);
  const { api: launch } = await launched(tenant, at, { user: { id: 'twice' }, roles: [INSTRUCTOR] });
  const create = (by: Api) => by.post('/folders', { name: 'once' }, { headers: { 'idempotency-key': 'of-both' } });

  const first = await create(api);
  const [again, other] = [await create(api), await create(launch)];

  expect([first.status, again.status, again.body.id === first.body.id]).toEqual([201, 201, true]);
  expect([other.status, other.body.error]).toEqual([422, 'idempotency_key_reused']);
});
