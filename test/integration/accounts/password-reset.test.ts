import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';

let aheadMs = 0;
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
const tenant = serverSuite({ clock });

const NEW = 'battery staple horse';
const resetOf = async (id: string): Promise<string> => (await tenant.admin.post(`/users/${id}/password-reset`)).body.token;
const use = (token: string, new_password = NEW): Promise<ApiReply> =>
  tenant.anonymous.post('/auth/password-reset', { token, new_password });
const signsIn = async (email: string, password: string): Promise<boolean> =>
  (await tenant.anonymous.post('/auth/login', { email, password })).status === 200;

test('an administrator’s token sets a password once and ends all sessions', async () => {
  await addWebhook(tenant, { events: ['user.updated'] });
  const { api, user, password } = await tenant.user();
  const elsewhere = await tenant.anonymous.login(user.email, password);
  await api.get('/users/me');

  const made = await tenant.counting(() => tenant.admin.post(`/users/${user.id}/password-reset`));
  const { token, expires_at } = made.reply.body;
  const used = await tenant.counting(() => use(token));
  const again = await tenant.counting(() => use(token));

  expect([made.reply.status, Object.keys(made.reply.body), made.sql.length]).toEqual([201, ['token', 'expires_at'], 2]);
  expect(Math.abs(new Date(expires_at).getTime() - Date.now() - 86_400_000)).toBeLessThan(60_000);
  expect([used.reply.status, used.reply.bytes.length]).toEqual([204, 0]);
  expect(used.sql.filter((sql) => !/^(START TRANSACTION|BEGIN|COMMIT)/i.test(sql))).toHaveLength(6);
  expect([again.reply.status, again.reply.body.error, again.sql.length]).toEqual([401, 'invalid_reset_token', 1]);
  expect([(await api.get('/users/me')).status, (await elsewhere.get('/users/me')).status]).toEqual([401, 401]);
  expect([await signsIn(user.email, password), await signsIn(user.email, NEW)]).toEqual([false, true]);
  const events = (await writtenEvents(tenant)).filter(({ data }) => data.id === user.id);
  expect(events.map(({ data }) => data.changes)).toEqual([['password']]);
  expect(JSON.stringify(await tenant.db.query('SELECT * FROM password_resets'))).not.toContain(token);
});

test('one of 20 racing uses with different passwords wins', async () => {
  const { user } = await tenant.user();
  const token = await resetOf(user.id);
  const passwords = range(20).map((at) => `${NEW} ${at}`);

  const replies = await Promise.all(passwords.map((password) => untilServed(() => use(token, password))));

  expect(countBy(replies, ({ status }) => status)).toEqual({ 204: 1, 401: 19 });
  const winner = passwords[replies.findIndex(({ status }) => status === 204)] ?? '';
  expect(await signsIn(user.email, winner)).toBe(true);
});

test('a token ends with the next one and with any change of the password, not with other changes', async () => {
  const { api, user, password } = await tenant.user();
  const replaced = await resetOf(user.id);
  const changed = await resetOf(user.id);
  expect((await use(replaced)).status).toBe(401);
  await api.post('/users/me/password', { current_password: password, new_password: NEW });
  expect((await use(changed)).status).toBe(401);
  const set = await resetOf(user.id);
  await tenant.admin.patch(`/users/${user.id}`, { password });
  expect((await use(set)).status).toBe(401);
  const last = await resetOf(user.id);
  await tenant.admin.patch(`/users/${user.id}`, { display_name: 'Another name' });
  expect((await use(last)).status).toBe(204);
});

test('only people who may sign in get a token; that of a deactivated or deleted person opens nothing', async () => {
  const [inactive, deleted] = [await tenant.user(), await tenant.user()];
  const tokens = [await resetOf(inactive.user.id), await resetOf(deleted.user.id)];
  await tenant.admin.patch(`/users/${inactive.user.id}`, { is_active: false });
  await tenant.admin.delete(`/users/${deleted.user.id}`);
  const nameless = await tenant.user({ email: 'nameless@lti.invalid' }).catch(() => undefined);
  const [system] = await tenant.db.query<{ uuid: string }>('SELECT uuid FROM users WHERE is_system');
  const reply = async (id: string | undefined): Promise<unknown[]> => {
    const { status, body } = await tenant.admin.post(`/users/${id}/password-reset`);
    return [status, body.error];
  };

  expect(await Promise.all(tokens.map(async (token) => (await use(token)).status))).toEqual([401, 401]);
  expect(await reply(inactive.user.id)).toEqual([409, 'conflict']);
  expect(await reply(nameless?.user.id)).toEqual([409, 'conflict']);
  for (const id of [deleted.user.id, randomUUID(), system?.uuid]) expect(await reply(id)).toEqual([404, 'not_found']);
});

test('only administrators of this tenant make tokens, and a token holds in its tenant alone', async () => {
  const { api, user } = await tenant.user({ roles: ['instructor'] });
  const other = await startTenant();
  try {
    const token = await resetOf(user.id);
    const replies = [
      await api.post(`/users/${user.id}/password-reset`),
      await other.admin.post(`/users/${user.id}/password-reset`),
      await tenant.anonymous.as(other.admin.token).post(`/users/${user.id}/password-reset`),
      await tenant.anonymous.post(`/users/${user.id}/password-reset`),
      await other.anonymous.post('/auth/password-reset', { token, new_password: NEW }),
    ];

    expect(replies.map(({ body }) => body.error)).toEqual([
      'forbidden',
      'not_found',
      'unauthenticated',
      'unauthenticated',
      'invalid_reset_token',
    ]);
    expect((await use(token)).status).toBe(204);
  } finally {
    await other.stop();
  }
});

test.each([
  ['new_password', { token: 'x', new_password: 'short' }],
  ['new_password', { token: 'x', new_password: 'Password1' }],
  ['token', { new_password: NEW }],
  ['token', { token: '', new_password: NEW }],
  ['email', { token: 'x', new_password: NEW, email: 'ada@example.org' }],
])('a wrong %s is a 400 that names it, and spends no token', async (field, body) => {
  const reply = await tenant.anonymous.post('/auth/password-reset', body);

  expect([reply.status, reply.body.details.map((detail: { field: string }) => detail.field)]).toEqual([400, [field]]);
});

test('a token works until 24 hours have passed', async () => {
  const [before, after] = [await tenant.user(), await tenant.user()];
  const tokens = [await resetOf(before.user.id), await resetOf(after.user.id)] as const;

  aheadMs = 86_400_000 - 60_000;
  const inTime = await use(tokens[0]);
  aheadMs = 86_400_000 + 1_000;
  const late = await use(tokens[1]);

  expect([inTime.status, late.body.error]).toEqual([204, 'invalid_reset_token']);
});
