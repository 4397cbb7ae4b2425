import { createPublicKey, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { EgressError } from '../../net/egress-error.ts';
import type { GuardedClient } from '../../net/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LaunchError } from '../launch-error.ts';

/** A key set is fetched again after this time, so that a withdrawn key is not trusted for ever. */
const KEY_SET_MS = 3_600_000;
/** A key id that is not in the set may be a new key; minimum time between two fetches for one (docs/design/lti.md, Keys). */
const REFETCH_MS = 60_000;
const PLATFORMS_MAX = 200;
const KEYS_MAX = 100;
const REPLY_BYTES_MAX = 256 * 1024;
const TIMEOUT_MS = 5_000;

/** Accepted algorithms with their key types (RFC 7518 §3.1; 1EdTech Security Framework §5.1.3: RS256, others by agreement). */
const ALGORITHMS: Readonly<Record<string, { readonly kty: string; readonly crv?: string }>> = {
  RS256: { kty: 'RSA' },
  RS384: { kty: 'RSA' },
  RS512: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  PS384: { kty: 'RSA' },
  PS512: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  ES512: { kty: 'EC', crv: 'P-521' },
};
/** RFC 7518 §3.3. */
const MODULUS_BITS_MIN = 2048;

export const isTakenAlgorithm = (alg: unknown): alg is string => typeof alg === 'string' && Object.hasOwn(ALGORITHMS, alg);

interface KeySet {
  readonly keys: ReadonlyMap<string, JWK>;
  /** Keys by algorithm and key id, created on first use. */
  readonly made: Map<string, KeyObject>;
  /** Monotonic milliseconds. */
  readonly fetchedAt: number;
}

interface Platform {
  present: KeySet | undefined;
  underWay: Promise<KeySet> | undefined;
  /** Time at which an unknown key id last caused a fetch. */
  refetchedAt: number | undefined;
}

/**
 * The public keys of platforms, cached in memory.
 *
 * Invariants:
 * - Sends no request while a key set is fresh and contains the key; concurrent callers share one request.
 * - An unknown key id causes at most one request per platform and minute, the first at once, whether or not it succeeds.
 * - Caches at most PLATFORMS_MAX key sets and drops the least recently used one.
 */
export class PlatformKeys {
  readonly #client: GuardedClient;
  readonly #clock: Clock;
  /** Platforms by the address of their key set. */
  readonly #platforms = new LRUCache<string, Platform>({ max: PLATFORMS_MAX });

  constructor(deps: { client: GuardedClient; clock: Clock }) {
    this.#client = deps.client;
    this.#clock = deps.clock;
  }

  /** Returns the key `kid` for `alg`, an accepted algorithm. Throws LaunchError `key_…` and `platform_keys_…`. */
  async key(address: string, kid: string, alg: string): Promise<KeyObject> {
    const platform = this.#platform(address);
    const cached = platform.present;
    let set = await this.#fresh(platform, address);
    if (!set.keys.has(kid) && set === cached && this.#mayRefetch(platform)) {
      platform.refetchedAt = this.#clock.monotonic();
      set = await this.#fetch(platform, address);
    }
    const jwk = set.keys.get(kid);
    if (!jwk) throw new LaunchError('key_unknown');
    return keyOf(set, kid, jwk, alg);
  }

  #platform(address: string): Platform {
    const platform = this.#platforms.get(address) ?? { present: undefined, underWay: undefined, refetchedAt: undefined };
    this.#platforms.set(address, platform);
    return platform;
  }

  #fresh(platform: Platform, address: string): KeySet | Promise<KeySet> {
    const { present } = platform;
    return present && this.#clock.monotonic() - present.fetchedAt < KEY_SET_MS ? present : this.#fetch(platform, address);
  }

  /** A fetch that is already running is always joined. */
  #mayRefetch(platform: Platform): boolean {
    if (platform.underWay !== undefined) return true;
    return platform.refetchedAt === undefined || this.#clock.monotonic() - platform.refetchedAt >= REFETCH_MS;
  }

  #fetch(platform: Platform, address: string): Promise<KeySet> {
    platform.underWay ??= this.#request(address)
      .then((set) => (platform.present = set))
      .finally(() => (platform.underWay = undefined));
    return platform.underWay;
  }

  async #request(address: string): Promise<KeySet> {
    try {
      const reply = await this.#client.request({
        url: address,
        headers: { accept: 'application/jwk-set+json, application/json' },
        maxBytes: REPLY_BYTES_MAX,
        timeoutMs: TIMEOUT_MS,
      });
      if (reply.status !== 200) throw new LaunchError('platform_keys_invalid', `It answered with status ${reply.status}.`);
      return { keys: keysOf(reply.body), made: new Map(), fetchedAt: this.#clock.monotonic() };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      if (error.code === 'timeout' || error.code === 'connect_timeout')
        throw new LaunchError('platform_keys_timeout', undefined, { cause: error });
      const answered = error.code === 'reply_too_large' || error.code === 'bad_reply';
      // The page shows this, since waiting does not repair a certificate. The text names the host and OpenSSL's code.
      const shown = error.code === 'tls_failed' ? `${error.message}.` : undefined;
      throw new LaunchError(answered ? 'platform_keys_invalid' : 'platform_keys_unreachable', shown, { cause: error });
    }
  }
}

/** RFC 7517 §5: ignores unknown members; keys without an id cannot be selected. */
function keysOf(body: Buffer): Map<string, JWK> {
  const invalid = (cause?: unknown): LaunchError => new LaunchError('platform_keys_invalid', undefined, { cause });
  let keys: unknown;
  try {
    keys = (JSON.parse(body.toString('utf8')) as { keys?: unknown } | null)?.keys;
  } catch (error) {
    throw invalid(error);
  }
  if (!Array.isArray(keys)) throw invalid();
  const named = (keys as unknown[])
    .slice(0, KEYS_MAX)
    .filter((key): key is JWK & { kid: string } => typeof (key as { kid?: unknown } | null)?.kid === 'string');
  return new Map(named.map((key) => [key.kid, key]));
}

function keyOf(set: KeySet, kid: string, jwk: JWK, alg: string): KeyObject {
  const wanted = ALGORITHMS[alg];
  const isFit =
    wanted !== undefined &&
    jwk.kty === wanted.kty &&
    (wanted.crv === undefined || jwk.crv === wanted.crv) &&
    (jwk.use === undefined || jwk.use === 'sig') &&
    (jwk.alg === undefined || jwk.alg === alg);
  if (!isFit) throw new LaunchError('key_unfit');
  const name = `${alg} ${kid}`;
  const key = set.made.get(name) ?? publicKey(jwk);
  const { modulusLength = MODULUS_BITS_MIN } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < MODULUS_BITS_MIN) throw new LaunchError('key_unfit');
  set.made.set(name, key);
  return key;
}

/** Ignores other members of the JWK, especially a private half. */
function publicKey(jwk: JWK): KeyObject {
  const { kty = '', crv = '', n = '', e = '', x = '', y = '' } = jwk;
  try {
    return createPublicKey({ key: kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y }, format: 'jwk' });
  } catch (error) {
    throw new LaunchError('key_unfit', undefined, { cause: error });
  }
}
