import type { IncomingMessage, ServerResponse } from 'node:http';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { Agent, request as fetched } from 'undici';
import { systemRandom } from '../../../runtime/random.ts';
import { bodyOf, json, Manner } from './manner.ts';
import { SCOPE, SCOPES } from './scopes.ts';

/**
 * The ways to answer a token request. The documents allow `well` and the first two, or real LMSs send them; the rest are invalid.
 */
export type TokenManner =
  | 'well'
  | 'text/html'
  | 'numbers as text'
  | 'short-lived'
  | 'down'
  | 'slow'
  | 'huge'
  | 'page'
  | 'error'
  | 'busy'
  | 'as Moodle'
  | 'echo'
  | 'no token'
  | 'line break'
  | 'no expiry'
  | 'absurd expiry'
  | 'another scope'
  | 'mac';

/** An answer instead of one of ours. */
export interface TokenAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
}

interface TokenClient {
  readonly clientId: string;
  /** The address of the tool's keys. */
  readonly jwksUrl: string;
}

const CLOCK_SKEW_SECONDS = 30;
const ASSERTION_SECONDS_MAX = 300;
const TOKEN_SECONDS = 3600;
/** Shorter than the margin that a client may keep, longer than a busy machine takes to use it. */
const SHORT_TOKEN_SECONDS = 10;
const DEPLOYMENT_ID = 'https://purl.imsglobal.org/spec/lti/claim/deployment_id';
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Resolves `*.localhost` to loopback, which Node does not. */
const dispatcher = new Agent({
  connect: {
    lookup: (_host, options, callback) =>
      options.all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4),
  },
});

/** Reads the keys that a tool publishes now. */
export async function keysOfTool(jwksUrl: string): Promise<ReturnType<typeof createLocalJWKSet>> {
  const reply = await fetched(jwksUrl, { dispatcher });
  return createLocalJWKSet((await reply.body.json()) as JSONWebKeySet);
}

/**
 * The token end point by the 1EdTech Security Framework §4.1 and RFC 7523 §3. It checks the assertion against the keys that the
 * tool publishes, and accepts it once.
 */
export class TokenEndpoint {
  readonly manner = new Manner<TokenManner | TokenAnswer>('well');
  /** The faults of refused requests. */
  readonly refusals: string[] = [];
  /** Requests so far. */
  requests = 0;
  /** Ids of the keys that signed the accepted assertions. */
  readonly signers: string[] = [];
  /** Delays requests before they are examined. */
  pause: Promise<void> | undefined;
  /** Caches the keys of tools, and reads them again for an unknown id (as Moodle does). */
  keepsKeys = false;
  /** The lead of the platform's clock, and the error that it tolerates in the clocks of others. */
  readonly clock = { aheadSeconds: 0, toleranceSeconds: CLOCK_SKEW_SECONDS };
  /** `aud` of assertions: its address, unless the LMS requires another. */
  audience: string;
  /** For Blackboard: the assertion names the deployment that the token is for. */
  wantsDeployment: string | undefined;
  readonly #clients: (clientId: string) => TokenClient | undefined;
  readonly #tokens = new Map<string, { clientId: string; scopes: readonly string[]; until: number }>();
  readonly #used = new Set<string>();
  /** Keys of tools by their address, as they were last read. */
  readonly #kept = new Map<string, ReturnType<typeof createLocalJWKSet>>();

  constructor(address: string, clients: (clientId: string) => TokenClient | undefined) {
    this.audience = address;
    this.#clients = clients;
  }

  /**
   * Returns the tool whose token for one of the scopes the header carries; 401 without a token, 403 for a token with other
   * scopes.
   */
  caller(authorization: string | undefined, scopes: readonly string[]): { readonly clientId: string } | 401 | 403 {
    const token = this.#tokens.get(/^Bearer ([\x21-\x7e]+)$/.exec(authorization ?? '')?.[1] ?? '');
    if (!token || token.until <= Date.now()) return 401;
    return scopes.some((scope) => token.scopes.includes(scope)) ? { clientId: token.clientId } : 403;
  }

  /** Revokes all tokens. */
  revokeAll(): void {
    this.#tokens.clear();
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const body = await bodyOf(request);
    await this.pause;
    const manner = this.manner.next();
    response.setHeader('date', this.#now().toUTCString());
    if (manner === 'down') return void response.destroy();
    if (manner === 'slow') return;
    if (manner === 'page') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>');
    if (manner === 'error') return void response.writeHead(500).end('oops');
    if (manner === 'busy') return void response.writeHead(429, { 'retry-after': '1' }).end();
    if (manner === 'as Moodle') return void response.writeHead(400, 'Invalid client assertion').end('[]');
    if (typeof manner === 'object') return void response.writeHead(manner.status, manner.headers).end(manner.text);
    if (manner === 'echo') return json(response, 400, { error: 'invalid_client', error_description: `bad: ${body}` });
    try {
      const { clientId, scopes } = await this.#proved(request, new URLSearchParams(body));
      this.#give(response, manner, clientId, scopes);
    } catch (error) {
      const [code = 'invalid_client', what = String(error)] = error instanceof Refused ? [error.code, error.message] : [];
      this.refusals.push(`${code}: ${what}`);
      json(response, 400, { error: code, error_description: what });
    }
  }

  async #proved(request: IncomingMessage, form: URLSearchParams): Promise<{ clientId: string; scopes: string[] }> {
    if (request.method !== 'POST') throw new Refused('invalid_request', 'the method must be POST');
    if (request.headers['content-type'] !== 'application/x-www-form-urlencoded')
      throw new Refused('invalid_request', 'the body must be a form');
    for (const name of new Set(form.keys()))
      if (form.getAll(name).length > 1) throw new Refused('invalid_request', `${name} stands twice`);
    if (form.get('grant_type') !== 'client_credentials') throw new Refused('unsupported_grant_type', 'grant_type');
    if (form.get('client_assertion_type') !== ASSERTION_TYPE) throw new Refused('invalid_request', 'client_assertion_type');
    const assertion = form.get('client_assertion') ?? '';
    const client = this.#clients(decodeJwt(assertion).iss ?? '');
    if (!client) throw new Refused('invalid_client', 'iss is not a client of this platform');
    await this.#requireAssertion(assertion, client);
    const scopes = (form.get('scope') ?? '').split(' ').filter((scope) => scope !== '');
    if (scopes.length === 0 || !scopes.every((scope) => SCOPES.includes(scope))) throw new Refused('invalid_scope', 'scope');
    return { clientId: client.clientId, scopes };
  }

  async #requireAssertion(assertion: string, client: TokenClient): Promise<void> {
    const { payload, protectedHeader } = await jwtVerify(assertion, await this.#keysOf(client.jwksUrl, assertion), {
      algorithms: ['RS256'],
      issuer: client.clientId,
      subject: client.clientId,
      audience: this.audience,
      requiredClaims: ['iss', 'sub', 'aud', 'iat', 'exp', 'jti'],
      clockTolerance: this.clock.toleranceSeconds,
      currentDate: this.#now(),
    });
    const { iat = 0, exp = 0, jti = '' } = payload;
    if (protectedHeader.kid === undefined) throw new Refused('invalid_client', 'the assertion does not name a key');
    if (exp - iat > ASSERTION_SECONDS_MAX) throw new Refused('invalid_client', 'the assertion lives longer than 5 minutes');
    if (iat > this.#now().getTime() / 1000 + this.clock.toleranceSeconds)
      throw new Refused('invalid_client', 'the assertion was issued in the future');
    const { wantsDeployment } = this;
    if (wantsDeployment !== undefined && payload[DEPLOYMENT_ID] !== wantsDeployment)
      throw new Refused('invalid_client', 'the assertion names another deployment');
    if (typeof jti !== 'string' || jti === '' || this.#used.has(jti)) throw new Refused('invalid_client', 'jti was used before');
    this.#used.add(jti);
    this.signers.push(protectedHeader.kid);
  }

  async #keysOf(jwksUrl: string, assertion: string): ReturnType<typeof keysOfTool> {
    const known = this.#kept.get(jwksUrl);
    const { kid } = decodeProtectedHeader(assertion);
    if (this.keepsKeys && known?.jwks().keys.some((key) => key.kid === kid)) return known;
    const keys = await keysOfTool(jwksUrl);
    this.#kept.set(jwksUrl, keys);
    return keys;
  }

  #now = (): Date => new Date(Date.now() + this.clock.aheadSeconds * 1000);

  #give(response: ServerResponse, manner: TokenManner, clientId: string, scopes: readonly string[]): void {
    const token = systemRandom.base64url(24);
    const seconds = manner === 'short-lived' ? SHORT_TOKEN_SECONDS : TOKEN_SECONDS;
    this.#tokens.set(token, { clientId, scopes, until: Date.now() + seconds * 1000 });
    const reply = { access_token: token, token_type: 'Bearer', expires_in: seconds, scope: scopes.join(' ') };
    const odd: Partial<Record<TokenManner, object>> = {
      'numbers as text': { ...reply, expires_in: '3600' },
      huge: { ...reply, padding: 'x'.repeat(1024 * 1024) },
      'no token': { token_type: 'Bearer', expires_in: seconds },
      'line break': { ...reply, access_token: `${token}\r\nX-Injected: 1` },
      'no expiry': { ...reply, expires_in: undefined },
      'absurd expiry': { ...reply, expires_in: -1e300 },
      'another scope': { ...reply, scope: SCOPE.lineItem },
      mac: { ...reply, token_type: 'mac' },
    };
    json(response, 200, odd[manner] ?? reply, manner === 'text/html' ? 'text/html; charset=UTF-8' : 'application/json');
  }
}

class Refused extends Error {
  readonly code: string;
  constructor(code: string, what: string) {
    super(what);
    this.code = code;
  }
}
