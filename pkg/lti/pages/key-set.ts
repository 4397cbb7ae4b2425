import { createPublicKey } from 'node:crypto';
import type { JWK } from 'jose';
import type { Tokens } from '../../access/tokens.ts';
import type { Database } from '../../store/postgres/database.ts';

/** How long others may cache the key set: shorter than any overlap of keys. */
export const KEY_SET_MAX_AGE_SECONDS = 300;

/**
 * Returns the tenant's public keys: those that sign messages to platforms (RS256; for each active registration the signing key,
 * the next one and the former ones), and those of its own tokens (ES256).
 */
export async function publicKeySet(db: Database, tokens: Tokens): Promise<{ keys: readonly JWK[] }> {
  const tools = await db.query<{ keyId: string; publicKey: string }>(
    `SELECT key_id AS "keyId", public_key AS "publicKey" FROM lti_tools
     WHERE is_active AND key_id IS NOT NULL AND public_key IS NOT NULL
     UNION ALL
     SELECT k.key_id, k.public_key FROM lti_tool_keys k JOIN lti_tools t ON t.id = k.tool_id
     WHERE t.is_active AND (k.published_until IS NULL OR k.published_until > now())`,
  );
  return { keys: [...tools.map(({ keyId, publicKey }) => jwkOf(keyId, publicKey)), ...tokens.publicJwks()] };
}

function jwkOf(kid: string, pem: string): JWK {
  const { kty, n, e } = createPublicKey(pem).export({ format: 'jwk' }) as { kty: string; n: string; e: string };
  return { kty, n, e, kid, alg: 'RS256', use: 'sig' };
}
