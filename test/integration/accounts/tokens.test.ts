import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { type CryptoKey, exportSPKI, importJWK, type JWK, SignJWT } from 'jose';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';

const tenant = serverSuite();
const other = serverSuite();

const me = (token: string): Promise<ApiReply> => tenant.anonymous.as(token).get('/users/me');
const signingKey = (of: TestTenant): JWK & { kid: string } => JSON.parse(of.config.CARREL_SIGNING_KEYS).keys[0];
const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

async function signed(changes: Record<string, unknown>, header: Record<string, unknown> = {}, by = tenant): Promise<string> {
  const key = signingKey(by);
  const claims = { ...claimsOf(tenant.admin.token as string), ...changes };
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: key.kid, ...header }).sign(await importJWK(key, 'ES256'));
}

const expectRefused = (reply: ApiReply): void => {
  expect([reply.status, reply.body.error, reply.headers['www-authenticate']]).toEqual([
    401,
    'unauthenticated',
    'Bearer error="invalid_token"',
  ]);
};

test('an access token carries issuer, audience, subject, tenant, session, roles, times and an id, for 900 s', () => {
  const claims = claimsOf(tenant.admin.token as string);

  expect(claims).toEqual({
    iss: tenant.url,
    aud: tenant.url,
    sub: expect.stringMatching(/^[0-9a-f-]{36}$/),
    tid: tenant.slug,
    sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    roles: ['admin'],
    iat: expect.any(Number),
    exp: expect.any(Number),
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect((claims.exp as number) - (claims.iat as number)).toBe(900);
});

test('a token that says the same under the right key is taken: the attacks below differ in one thing each', async () => {
  expect((await me(await signed({}))).status).toBe(200);
});

test('a token of another tenant is refused', async () => {
  expectRefused(await me(other.admin.token as string));
});

test("another tenant's key does not sign for this one, even under this one's key id", async () => {
  expectRefused(await me(await signed({}, {}, other)));
  expectRefused(await me(await signed({}, { kid: signingKey(tenant).kid }, other)));
});

test('a token whose tenant, issuer or audience is changed is refused even with a good signature', async () => {
  expectRefused(await me(await signed({ tid: other.slug })));
  expectRefused(await me(await signed({ iss: other.url })));
  expectRefused(await me(await signed({ aud: other.url })));
});

test('a token without a signature (alg none) is refused', async () => {
  const claims = claimsOf(tenant.admin.token as string);

  for (const alg of ['none', 'None', 'ES256'])
    expectRefused(await me(`${encode({ alg, kid: signingKey(tenant).kid })}.${encode(claims)}.`));
});

test('a token that is signed by HMAC with the public key is refused', async () => {
  const { d: _private, ...jwk } = signingKey(tenant);
  const spki = await exportSPKI((await importJWK(jwk, 'ES256', { extractable: true })) as CryptoKey);

  for (const secret of [spki, JSON.stringify(jwk)]) {
    const content = `${encode({ alg: 'HS256', kid: jwk.kid })}.${encode(claimsOf(tenant.admin.token as string))}`;
    expectRefused(await me(`${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`));
  }
});

test('an expired token, one without an expiry, and one that is not yet issued by its subject are refused', async () => {
  expectRefused(await me(await signed({ exp: Math.floor(Date.now() / 1000) - 1 })));
  expectRefused(await me(await signed({ exp: undefined })));
  expectRefused(await me(await signed({ sub: '7b0c6d6e-0000-4000-8000-000000000000' })));
  expectRefused(await me(await signed({ sid: '7b0c6d6e-0000-4000-8000-000000000000' })));
});

test('a token whose roles were changed gives what the user has, not what it says', async () => {
  const { api } = await tenant.user({ roles: ['viewer'] });
  const claims = { ...claimsOf(api.token as string), roles: ['admin'] };

  const reply = await tenant.anonymous.as(await signed(claims)).get('/users');

  expect([reply.status, reply.body.error]).toEqual([403, 'forbidden']);
});

test.each(['', 'x', 'a.b.c', 'ey.ey.ey', '...', 'YQ.YQ.YQ.YQ.YQ'])('the malformed token %j is refused', async (token) => {
  const reply = await tenant.anonymous.get('/users/me', { headers: { authorization: `Bearer ${token}` } });

  expect([reply.status, reply.body.error]).toEqual([401, 'unauthenticated']);
});

test('after the keys were rotated the old one still verifies and the new one signs', async () => {
  const before = tenant.admin;
  const { keys } = JSON.parse(tenant.config.CARREL_SIGNING_KEYS);
  const fresh = JSON.parse(other.config.CARREL_SIGNING_KEYS).keys;
  await tenant.restart({ CARREL_SIGNING_KEYS: JSON.stringify({ keys: [{ ...fresh[0], kid: 'new' }, ...keys] }) });

  const after = await tenant.anonymous.login(tenant.administrator.email, tenant.administrator.password);

  expect((await before.get('/users/me')).status).toBe(200);
  expect((await after.get('/users/me')).status).toBe(200);
  expect(JSON.parse(Buffer.from((after.token as string).split('.')[0] as string, 'base64url').toString())).toMatchObject({
    kid: 'new',
    alg: 'ES256',
  });
  await tenant.restart();
});
