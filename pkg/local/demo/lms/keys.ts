import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { newRsaKeys } from './rsa-keys.ts';
import type { Claims } from './claims.ts';

/** A key of the platform, or of an impostor. */
export interface LmsKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Makes a new key for a platform, a tool, or an unknown party. */
export const newKey = (kid: string): LmsKey => ({ kid, ...newRsaKeys() });

/** Algorithms other than RS256 (RFC 7518 §3.1). */
export const FAMILIES = ['RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'] as const;
const CURVES: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };

/** Makes a new key for an algorithm. */
export function keyFor(alg: string, kid: string): LmsKey {
  const namedCurve = CURVES[alg];
  return namedCurve === undefined ? newKey(kid) : { kid, ...generateKeyPairSync('ec', { namedCurve }) };
}

/** Makes a key of 1024 bits. */
export const weakKey = (kid: string): LmsKey => ({ kid, ...generateKeyPairSync('rsa', { modulusLength: 1024 }) });

/** Returns the key in the form of a key set; `more` overrides fields. */
export const jwkOf = ({ kid, publicKey }: LmsKey, more: Claims = {}): Claims => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  alg: 'RS256',
  use: 'sig',
  ...more,
});

const encoded = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Makes a compact JWS (RFC 7515 §3.1) by hand: libraries refuse to make an invalid one. */
export function signed(header: Claims, claims: Claims, key: LmsKey): string {
  const text = `${encoded(header)}.${encoded(claims)}`;
  const { alg = 'RS256' } = header as { alg?: string };
  return `${text}.${signatureOf(alg, text, key).toString('base64url')}`;
}

function signatureOf(alg: string, text: string, key: LmsKey): Buffer {
  if (alg === 'none') return Buffer.alloc(0);
  // A known attack: the public key, which everybody has, serves as the secret of an HMAC.
  if (alg === 'HS256') {
    return createHmac('sha256', key.publicKey.export({ type: 'spki', format: 'pem' }))
      .update(text)
      .digest();
  }
  const { privateKey } = key;
  const pss = { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const by = alg.startsWith('PS')
    ? pss
    : alg.startsWith('ES')
      ? ({ key: privateKey, dsaEncoding: 'ieee-p1363' } as const)
      : privateKey;
  return sign(`sha${alg.slice(2)}`, Buffer.from(text), by);
}
