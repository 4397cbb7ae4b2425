import { expect, test } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { Passwords } from '../../../pkg/accounts/passwords.ts';
import { waitFor } from '../../support/wait.ts';
import { children, condition, conditionOf, ready, secretValues, unique } from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const { cluster, namespace, readyTenant } = operatorSuite();

const { SECRET } = children;

test("the administrator's password: deleting the Secret sets a new one, editing it sets that one", async () => {
  const key = await readyTenant();
  const name = `${key.name}-admin`;
  const { url = '' } = (await secretValues(cluster, namespace, `${key.name}-database`)) ?? {};
  const { email = '', password: first = '' } = (await secretValues(cluster, namespace, name)) ?? {};
  const sql = new SqlPool({ url, poolSize: 1, log: silentLogger });
  const passwords = new Passwords();
  const signsIn = async (password: string): Promise<boolean> => {
    const [user] = await sql.query<{ hash: string }>('SELECT password_hash AS hash FROM users WHERE email = $1', [email]);
    return passwords.verify(user?.hash ?? null, password);
  };

  try {
    expect(await signsIn(first)).toBe(true);
    await sql.query(
      `INSERT INTO sessions (id, user_id, expires_at) SELECT gen_random_uuid(), id, now() + interval '1 h' FROM users
       WHERE email = $1`,
      [email],
    );
    await cluster.of(SECRET).delete({ namespace, name });
    const second = await waitFor('a new password', async () => (await secretValues(cluster, namespace, name))?.['password']);
    expect(second).not.toBe(first);
    expect([await signsIn(first), await signsIn(second)]).toEqual([false, true]);
    const [user] = await sql.query<{ uuid: string }>('SELECT uuid FROM users WHERE email = $1', [email]);
    expect(await sql.query('SELECT 1 AS live FROM sessions WHERE ended_at IS NULL')).toEqual([]);
    const [work] = await sql.query<{ kind: string; payload: { subjects: string[] } }>('SELECT kind, payload FROM carrel.work');
    expect(work).toMatchObject({ kind: 'cache.clear', payload: { subjects: expect.arrayContaining([`user:${user?.uuid}`]) } });
    await cluster.of(SECRET).patch({ namespace, name }, { stringData: { password: 'of my own choice' } });
    await waitFor('the edited password to sign in', () => signsIn('of my own choice'));
    await cluster.of(SECRET).patch({ namespace, name }, { stringData: { password: 'tooshor' } });
    await condition(cluster.tenants, key, 'KeysReady', 'False', 'PasswordInvalid');
    await cluster.of(SECRET).patch({ namespace, name }, { stringData: { password: 'Password1' } });
    const common = async () => conditionOf(await cluster.tenants.get(key), 'KeysReady')?.message.includes('most common');
    await waitFor('the common password to be refused', common);
    expect([await signsIn('tooshor'), await signsIn('Password1'), await signsIn('of my own choice')]).toEqual([
      false,
      false,
      true,
    ]);
  } finally {
    await sql.close();
  }
});

test('the first administrator has the Tenant’s quota; an address of another user is EmailTaken until it is free', async () => {
  const key = await readyTenant({ storage: { defaultUserQuota: '5Gi' } });
  const { url = '' } = (await secretValues(cluster, namespace, `${key.name}-database`)) ?? {};
  const sql = new SqlPool({ url, poolSize: 1, log: silentLogger });
  const rolesOf = async (email: string) =>
    (await sql.query<{ roles: string[] }>('SELECT roles FROM users WHERE email = $1', [email]))[0]?.roles;

  try {
    expect(await sql.query('SELECT storage_quota AS quota FROM users WHERE NOT is_system')).toEqual([{ quota: 5 * 1024 ** 3 }]);
    await sql.query("INSERT INTO users (uuid, email, username) VALUES (gen_random_uuid(), 'Head@example.com', 'head')");

    await cluster.tenants.patch(key, { spec: { admin: { email: 'head@example.com' } } });
    const refused = await condition(cluster.tenants, key, 'KeysReady', 'False', 'EmailTaken');
    const before = await rolesOf('Head@example.com');
    await sql.query("UPDATE users SET email = 'other@example.com' WHERE username = 'head'");
    await cluster.tenants.patch(key, { spec: { displayName: 'Again' } });
    await ready(cluster.tenants, key);

    expect(conditionOf(refused, 'KeysReady')?.message).toContain('head@example.com');
    expect([before, await rolesOf('other@example.com')]).toEqual([['member'], ['member']]);
    await waitFor('the administrator to be made', async () => (await rolesOf('head@example.com'))?.includes('admin'));
  } finally {
    await sql.close();
  }
});

test('a password that the spec names replaces the generated one, and follows its Secret', async () => {
  const key = await readyTenant();
  const own = { namespace, name: unique() };
  const { url = '' } = (await secretValues(cluster, namespace, `${key.name}-database`)) ?? {};
  const sql = new SqlPool({ url, poolSize: 1, log: silentLogger });
  const signsIn = async (password: string): Promise<boolean> => {
    const [user] = await sql.query<{ hash: string }>('SELECT password_hash AS hash FROM users WHERE email = $1', [
      'me@example.com',
    ]);
    return new Passwords().verify(user?.hash ?? null, password);
  };

  try {
    await cluster.tenants.patch(key, {
      spec: { admin: { email: 'me@example.com', passwordSecretRef: { name: own.name, key: 'pw' } } },
    });
    await condition(cluster.tenants, key, 'KeysReady', 'False', 'SecretMissing');
    await cluster.of(SECRET).create({ metadata: own, stringData: { pw: 'first choice' } });
    await ready(cluster.tenants, key);
    expect(await signsIn('first choice')).toBe(true);
    expect(await secretValues(cluster, namespace, `${key.name}-admin`)).toBeUndefined();
    await cluster.of(SECRET).patch(own, { stringData: { pw: 'second choice' } });
    await waitFor('the second password to sign in', () => signsIn('second choice'));

    await cluster.tenants.patch(key, { spec: { admin: { email: 'me@example.com', passwordSecretRef: null } } });
    const generated = await waitFor('a generated password', () => secretValues(cluster, namespace, `${key.name}-admin`));
    expect(await signsIn(generated['password'] ?? '')).toBe(true);
    await cluster.tenants.patch(key, {
      spec: { admin: { email: 'me@example.com', passwordSecretRef: { name: own.name, key: 'pw' } } },
    });
    await waitFor('the named password to sign in again', () => signsIn('second choice'));
  } finally {
    await sql.close();
  }
});
