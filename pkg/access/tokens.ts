import { KeyObject } from 'node:crypto';
import type { CryptoKey, JWK } from 'jose';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { importJWK } from 'jose/key/import';
import { jwtVerify } from 'jose/jwt/verify';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { ACCESS_TOKEN_SECONDS } from '../api/lifetimes.ts';
import { Problem } from '../api/problem.ts';
import { type Role, ROLES } from '../api/actor.ts';
import type { Clock } from '../runtime/clock.ts';
import { ConfigError } from '../runtime/config.ts';
import type { Random } from '../runtime/random.ts';
import { es256 } from './es256.ts';

/** The only algorithm, so that no token can choose another. */
const ALGORITHM = 'ES256';
/** Verified tokens are cached, so that a client with many requests costs one signature check per token. */
const VERIFIED_MAX = 1_000;

export interface AccessClaims {
  readonly userUuid: string;
  readonly sessionId: string;
  readonly roles: readonly Role[];
  readonly launchId: string | undefined;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

const Claims = z.object({
  sub: z.uuid(),
  sid: z.uuid(),
  tid: z.string(),
  roles: z.array(z.enum(ROLES)),
  exp: z.int(),
  launch_id: z.string().optional(),
});

interface Key {
  readonly kid: string;
  readonly private: KeyObject;
  readonly public: CryptoKey;
  readonly publicJwk: JWK;
}

/**
 * Access tokens: ES256 JWTs signed with the tenant's own key.
 *
 * Invariants:
 * - Only ES256 under one of the tenant's keys is accepted, whatever the token's header names.
 * - A token of another tenant (issuer, audience or `tid`) is refused.
 */
export class Tokens {
  readonly #keys: readonly Key[];
  readonly #tenant: string;
  readonly #issuer: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #verified = new LRUCache<string, AccessClaims>({ max: VERIFIED_MAX });

  private constructor(keys: readonly Key[], options: { tenant: string; issuer: string; clock: Clock; random: Random }) {
    this.#keys = keys;
    this.#tenant = options.tenant;
    this.#issuer = options.issuer;
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** `jwks` holds private JWKs (P-256): the first signs, all verify. `issuer` is the tenant's app address. Throws ConfigError. */
  static async load(jwks: string, options: { tenant: string; issuer: string; clock: Clock; random: Random }): Promise<Tokens> {
    const wrong = new ConfigError(
      'server: CARREL_SIGNING_KEYS is not valid. Set it to {"keys":[private P-256 JWK, …]} (docs/operate/settings.md).',
    );
    try {
      const { keys } = z
        .object({ keys: z.array(z.looseObject({ kty: z.literal('EC'), crv: z.literal('P-256'), d: z.string() })).min(1) })
        .parse(JSON.parse(jwks));
      return new Tokens(await Promise.all(keys.map((key) => importKey(key as JWK))), options);
    } catch {
      throw wrong;
    }
  }

  /** The token expires after `seconds`. */
  issue(
    claims: { userUuid: string; sessionId: string; roles: readonly Role[]; launchId?: string },
    seconds = ACCESS_TOKEN_SECONDS,
  ): string {
    const [key] = this.#keys as readonly [Key];
    const now = Math.floor(this.#clock.now().getTime() / 1000);
    return signed(key, {
      tid: this.#tenant,
      sid: claims.sessionId,
      roles: claims.roles,
      ...(claims.launchId ? { launch_id: claims.launchId } : {}),
      iss: this.#issuer,
      aud: this.#issuer,
      sub: claims.userUuid,
      iat: now,
      exp: now + seconds,
      jti: this.#random.uuid(),
    });
  }

  /** Throws Problem `unauthenticated`. Does not check whether the session is still open. */
  async verify(token: string): Promise<AccessClaims> {
    const now = this.#clock.now();
    const verified = this.#verified.get(token);
    if (verified && verified.expiresAt * 1000 > now.getTime()) return verified;
    try {
      const kid = decodeProtectedHeader(token).kid;
      const key = this.#keys.find((candidate) => candidate.kid === kid);
      if (!key) throw new Error('unknown key');
      const { payload } = await jwtVerify(token, key.public, {
        algorithms: [ALGORITHM],
        issuer: this.#issuer,
        audience: this.#issuer,
        currentDate: now,
        requiredClaims: ['exp', 'iat', 'jti'],
      });
      const claims = Claims.parse(payload);
      if (claims.tid !== this.#tenant) throw new Error('another tenant');
      const { sub: userUuid, sid: sessionId, roles, launch_id: launchId, exp: expiresAt } = claims;
      const made = { userUuid, sessionId, roles, launchId, expiresAt };
      this.#verified.set(token, made);
      return made;
    } catch (error) {
      throw new Problem('unauthenticated', undefined, { cause: error });
    }
  }

  /** Returns the public keys, for `jwks.json`. */
  publicJwks(): readonly JWK[] {
    return this.#keys.map((key) => key.publicJwk);
  }
}

/** Returns a JWS (RFC 7515 §7.1). */
function signed(key: Key, claims: Readonly<Record<string, unknown>>): string {
  const text = `${encoded({ alg: ALGORITHM, kid: key.kid, typ: 'JWT' })}.${encoded(claims)}`;
  return `${text}.${es256(text, key.private).toString('base64url')}`;
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

async function importKey(jwk: JWK): Promise<Key> {
  const kid = jwk.kid ?? (await calculateJwkThumbprint(jwk));
  const publicJwk: JWK = { kty: jwk.kty!, crv: jwk.crv!, x: jwk.x!, y: jwk.y!, kid, alg: ALGORITHM, use: 'sig' };
  return {
    kid,
    publicJwk,
    private: KeyObject.from((await importJWK(jwk, ALGORITHM, { extractable: true })) as CryptoKey),
    public: (await importJWK(publicJwk, ALGORITHM)) as CryptoKey,
  };
}
