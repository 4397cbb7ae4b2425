import { importPKCS8 } from 'jose/key/import';
import { SignJWT } from 'jose/jwt/sign';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { GuardedClient } from '../../net/client.ts';
import { EgressError } from '../../net/egress-error.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { isFinalEgress, shownAnswer } from './lms-answers.policy.ts';

/** The values of a registration that its token requests need. */
export interface ServiceClient {
  /** The tenant's slug; keeps tokens of tenants apart. */
  readonly tenant: string;
  readonly clientId: string;
  readonly tokenEndpoint: string;
  /** `aud` of the assertion; null: the token endpoint. */
  readonly tokenAudience: string | null;
  /** Deployment in the assertion: Blackboard issues tokens for one deployment. Null: the registration has several, or none. */
  readonly deploymentId: string | null;
  readonly keyId: string;
  /** PKCS#8, PEM; opened only when a token must be requested. */
  privateKey(): Promise<string>;
}

/** No token was obtained. The message is for people and contains no secret. */
export class ServiceTokenError extends Error {
  override readonly name = 'ServiceTokenError';
  /** Asking again does not help. */
  readonly isFinal: boolean;
  /** The platform issues tokens, but none for this scope. */
  readonly isScopeRefused: boolean;
  /** Status of the reply, if there was one. */
  readonly status: number | undefined;
  /** The reply's `Retry-After`. */
  readonly retryAfter: string | undefined;

  constructor(
    message: string,
    more: { isFinal?: boolean; isScopeRefused?: boolean; status?: number; retryAfter?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.isFinal = more.isFinal ?? false;
    this.isScopeRefused = more.isScopeRefused ?? false;
    this.status = more.status;
    this.retryAfter = more.retryAfter;
  }
}

/** Tolerance if the LMS's clock is behind ours: some LMSs refuse an `iat` in their future. */
const ISSUED_EARLIER_SECONDS = 60;
/**
 * Platforms accept an assertion that is valid for at most 5 minutes (1EdTech Security Framework §4.1.1). Four of them remain for
 * an LMS's clock that is ahead of ours.
 */
const ASSERTION_SECONDS = 300;
/** `Date` has whole seconds, and a reply takes time: a smaller difference does not indicate a wrong clock. */
const CLOCK_DIFFERENCE_SECONDS = 5;
const DEPLOYMENT_ID = 'https://purl.imsglobal.org/spec/lti/claim/deployment_id';
const TIMEOUT_MS = 15_000;
const REPLY_BYTES_MAX = 64 * 1024;
/** A token is requested again after an hour, even if the platform says that it is valid longer. */
const KEPT_SECONDS_MAX = 3600;
/** A token is not used in the last minute of its life (in its second half, if it lives less than two minutes). */
const MARGIN_SECONDS = 60;
const TOKENS_MAX = 1000;

/** RFC 6749 §5.1. Some LMSs send numbers as text; Moodle sends the reply as text/html. */
const TokenReply = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]{1,8192}$/),
  token_type: z.string().optional(),
  expires_in: z.coerce.number().optional().catch(undefined),
  scope: z.string().optional(),
});
const ErrorReply = z.object({ error: z.string(), error_description: z.string().optional().catch(undefined) });

/**
 * Access tokens for the services of platforms: client credentials with an assertion that the registration's key signs (1EdTech
 * Security Framework §4; RFC 7523 §2.2).
 *
 * Invariants:
 * - A token serves one registration of one tenant and one set of scopes (`scope`, separated by spaces), until shortly before it
 *   expires.
 * - Concurrent requests for the same token share one.
 * - At most TOKENS_MAX tokens are cached; the least recently used one is dropped.
 */
export class ServiceTokens {
  readonly #client: GuardedClient;
  readonly #clock: Clock;
  readonly #random: Random;
  /** `until` in monotonic milliseconds. */
  readonly #cache = new LRUCache<string, { token: string; until: number }>({ max: TOKENS_MAX });
  readonly #underWay = new Map<string, Promise<string>>();

  constructor(deps: { client: GuardedClient; clock: Clock; random: Random }) {
    this.#client = deps.client;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /** Throws ServiceTokenError, and what `privateKey` throws; EgressError `aborted` when the program is shutting down. */
  async of(client: ServiceClient, scope: string): Promise<string> {
    const key = keyOf(client, scope);
    const cached = this.#cache.get(key);
    if (cached && cached.until > this.#clock.monotonic()) return cached.token;
    let asked = this.#underWay.get(key);
    if (!asked) {
      asked = this.#ask(client, scope).finally(() => this.#underWay.delete(key));
      this.#underWay.set(key, asked);
    }
    return asked;
  }

  /** Drops a token that the platform refused: the next call requests another, unless there is one already. */
  drop(client: ServiceClient, scope: string, token: string): void {
    const key = keyOf(client, scope);
    if (this.#cache.peek(key)?.token === token) this.#cache.delete(key);
  }

  async #ask(client: ServiceClient, scope: string): Promise<string> {
    const assertion = await this.#assertion(client);
    const { token, seconds } = await this.#request(client, scope, assertion);
    if (seconds > 0) this.#keep(keyOf(client, scope), token, seconds);
    return token;
  }

  #keep(key: string, token: string, seconds: number): void {
    const used = seconds - Math.min(MARGIN_SECONDS, seconds / 2);
    this.#cache.set(key, { token, until: this.#clock.monotonic() + used * 1000 });
  }

  async #assertion(client: ServiceClient): Promise<string> {
    const key = await importPKCS8(await client.privateKey(), 'RS256');
    const issuedAt = Math.floor(this.#clock.now().getTime() / 1000) - ISSUED_EARLIER_SECONDS;
    const { deploymentId } = client;
    return new SignJWT(deploymentId === null ? {} : { [DEPLOYMENT_ID]: deploymentId })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: client.keyId })
      .setIssuer(client.clientId)
      .setSubject(client.clientId)
      .setAudience(client.tokenAudience ?? client.tokenEndpoint)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ASSERTION_SECONDS)
      .setJti(this.#random.uuid())
      .sign(key);
  }

  async #request(client: ServiceClient, scope: string, assertion: string): Promise<{ token: string; seconds: number }> {
    const form = {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
      scope,
    };
    try {
      const { status, statusText, headers, body } = await this.#client.request({
        url: client.tokenEndpoint,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: new URLSearchParams(form).toString(),
        timeoutMs: TIMEOUT_MS,
        maxBytes: REPLY_BYTES_MAX,
      });
      if (status === 200 || status === 201) return tokenOf(body, scope);
      const said = errorOf({ status, statusText, body }, assertion);
      throw new ServiceTokenError(
        `the LMS gave no token: it answered ${status}${said}${clocksOf(said, headers['date'], this.#clock.now())}`,
        {
          status,
          isScopeRefused: isScopeError(body),
          retryAfter: headers['retry-after'],
        },
      );
    } catch (error) {
      if (!(error instanceof EgressError) || error.code === 'aborted') throw error;
      throw new ServiceTokenError(`the LMS gave no token: ${error.message}`, { isFinal: isFinalEgress(error), cause: error });
    }
  }
}

/** A registration with another key or endpoint counts as another client. */
const keyOf = ({ tenant, clientId, tokenEndpoint, tokenAudience, deploymentId, keyId }: ServiceClient, scope: string): string =>
  JSON.stringify([tenant, clientId, tokenEndpoint, tokenAudience, deploymentId, keyId, scope]);

function tokenOf(body: Buffer, scope: string): { token: string; seconds: number } {
  const reply = TokenReply.safeParse(jsonOf(body));
  if (!reply.success) throw new ServiceTokenError('the LMS gave no token: its answer holds no usable access_token');
  const { access_token: token, token_type: type = 'Bearer', expires_in: seconds = 0, scope: granted } = reply.data;
  if (type.toLowerCase() !== 'bearer') throw new ServiceTokenError('the LMS gave no token: its token_type is not Bearer');
  const missing =
    granted === undefined || granted === '' ? [] : scope.split(' ').filter((one) => !granted.split(' ').includes(one));
  if (missing.length > 0)
    throw new ServiceTokenError(`the LMS gave no token: it did not grant ${missing.join(' ')}`, { isScopeRefused: true });
  return { token, seconds: seconds > 0 ? Math.min(seconds, KEPT_SECONDS_MAX) : 0 };
}

/** RFC 6749 §5.2. */
const isScopeError = (body: Buffer): boolean => ErrorReply.safeParse(jsonOf(body)).data?.error === 'invalid_scope';

/** Returns the error of RFC 6749 §5.2, or another text that may help a person. */
function errorOf({ body, ...line }: { status: number; statusText: string; body: Buffer }, assertion: string): string {
  const reply = ErrorReply.safeParse(jsonOf(body));
  const text = reply.success
    ? [reply.data.error, reply.data.error_description].filter(Boolean).join(': ')
    : body.toString('utf8');
  const shown = shownAnswer({ ...line, text }, [assertion]);
  return shown === '' ? '' : ` (${shown})`;
}

/**
 * Helps a person who does not know that an assertion has times: returns the clock of the LMS by the `Date` of its reply (RFC 9110
 * §6.6.1), and ours.
 */
function clocksOf(said: string, date: string | undefined, now: Date): string {
  const theirs = new Date(date ?? NaN);
  const aheadSeconds = Math.round((theirs.getTime() - now.getTime()) / 1000);
  const isWrong = Math.abs(aheadSeconds) >= CLOCK_DIFFERENCE_SECONDS;
  if (isWrong) {
    const how = aheadSeconds > 0 ? 'ahead of' : 'behind';
    return `; clocks differ: that of the LMS (${seconds(theirs)}) is ${Math.abs(aheadSeconds)} s ${how} ours (${seconds(now)})`;
  }
  return /\b(iat|exp|nbf|expired?|future|clock)\b/i.test(said) ? `; clocks may differ: ours says ${seconds(now)}` : '';
}

const seconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}
