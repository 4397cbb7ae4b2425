import { expect, test } from '@jest/globals';
import type { JWK } from 'jose';
import { newToolKey } from '../../../pkg/lti/registrations/tool-key.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';

const { tenant, at: registration } = lmsSuite();

/** A key beside the one that signs, as the operator's rotation leaves it. */
async function spareKey(publishedUntil: string | null): Promise<string> {
  const { kid, publicKey } = await newToolKey();
  await tenant.db.query(
    `INSERT INTO lti_tool_keys (tool_id, key_id, public_key, private_key, published_at, published_until)
     VALUES ($1, $2, $3, $4, now(), now() + $5::interval)`,
    [registration.toolId, kid, publicKey, publishedUntil === null ? 'sealed' : null, publishedUntil],
  );
  return kid;
}

async function published(): Promise<JWK[]> {
  const { body } = await tenant.anonymous.raw('GET', `${tenant.url}/.well-known/jwks.json`);
  return (body as { keys: JWK[] }).keys.filter(({ kty }) => kty === 'RSA');
}

test('the key set holds the key that signs, the next and the former ones while they last, and no private part', async () => {
  const next = await spareKey(null);
  const former = await spareKey('1 hour');
  const lapsed = await spareKey('-1 second');

  const keys = await published();

  expect(new Set(keys.map(({ kid }) => kid))).toEqual(new Set([registration.keyId, next, former]));
  expect(lapsed).not.toBe(former);
  for (const key of keys) expect(Object.keys(key).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
});

test('a registration that is not active publishes none', async () => {
  await tenant.db.tables.ltiTools.update({ id: registration.toolId }, { isActive: false });

  expect(await published()).toEqual([]);
});
