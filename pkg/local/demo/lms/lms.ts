import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemRandom } from '../../../runtime/random.ts';
import { ScoreService } from './ags.ts';
import { AGS, type Claims, claimsOf, type Launch, LEARNER, LTI } from './claims.ts';
import { Courses } from './courses.ts';
import { DeepLinkReturns, RETURN_PATH } from './deep-linking.ts';
import type { Face } from './faces.ts';
import type { Fault, Signer } from './faults.ts';
import { GradeBook } from './grade-book.ts';
import { FAMILIES, jwkOf, keyFor, type LmsKey, newKey, signed, weakKey } from './keys.ts';
import { lineItemService } from './line-items.ts';
import { NoticeHandlers } from './notices.ts';
import { membershipService } from './nrps.ts';
import { resultService } from './results.ts';
import type { Service } from './service.ts';
import { TokenEndpoint } from './token.ts';

/** The ways to answer requests for the key set. */
export type KeySetManner = 'well' | 'down' | 'slow' | 'huge' | 'html' | 'error' | 'no keys';

export interface Registered {
  readonly clientId: string;
  readonly deploymentId: string;
  readonly redirectUris: readonly string[];
  readonly loginInitiationUrl: string;
  readonly targetLinkUri: string;
  /** The address of the tool's keys; default: beside `redirectUris`, as docs/design/lti.md says. */
  readonly jwksUrl?: string;
}

const jwksUrlOf = ({ jwksUrl, redirectUris }: Registered): string =>
  jwksUrl ?? redirectUris[0]?.replace(/\/launch$/, '/.well-known/jwks.json') ?? '';

const notFound = (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(404).end();

/** Lifetime of an id_token, as in Moodle. */
const ID_TOKEN_SECONDS = 60;
const MAX_LAUNCHES = 20_000;

/**
 * The platform side of LTI 1.3 by the 1EdTech documents, over real HTTP: `/jwks`, `/authorize` and `/token`. `/ags/…` serves line
 * items, scores and results, `/nrps/…` the members of a course. It is strict about tools' requests, and breaks one rule of its
 * own if a Fault says so.
 */
export class Lms {
  /** The address of its end points. */
  readonly base: string;
  readonly issuer: string;
  /** Login initiation names the deployment, as Canvas' does. */
  sendsDeployment = false;
  /** Requests of the key set so far. */
  keySetRequests = 0;
  keySetManner: KeySetManner = 'well';
  readonly tokens: TokenEndpoint;
  readonly scores: ScoreService;
  readonly lineItems: Service;
  readonly results: Service;
  readonly members: Service;
  readonly notices: NoticeHandlers;
  /** The tools' replies to deep linking requests. */
  readonly deepLinks: DeepLinkReturns;
  /** Further paths of a face, each with its handler. */
  readonly paths = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  /** Returns a face's own claims, from the originals of the course. */
  launchClaims: Face['launchClaims'];
  /** The courses and their members; launching makes a person a member. */
  readonly courses = new Courses();
  readonly #book: GradeBook;
  #server: ReturnType<typeof createServer> | undefined;
  readonly #tools = new Map<string, Registered>();
  readonly #launches = new Map<string, { launch: Launch; fault: Fault; clientId: string }>();
  #key = newKey(systemRandom.hex(4));
  #published: Claims[] = [jwkOf(this.#key)];

  /**
   * Makes an LMS behind an existing server, which passes requests to `answer`. `issuer` may differ from its address and be shared
   * with other LMSs.
   */
  constructor(base: string, issuer = base) {
    this.base = base;
    this.issuer = issuer;
    this.tokens = new TokenEndpoint(this.tokenEndpoint, (clientId) => {
      const tool = this.#tools.get(clientId);
      return tool && { clientId, jwksUrl: jwksUrlOf(tool) };
    });
    this.deepLinks = new DeepLinkReturns({ base, issuer }, (clientId) => {
      const tool = this.#tools.get(clientId);
      return tool && { jwksUrl: jwksUrlOf(tool), deploymentId: tool.deploymentId };
    });
    this.#book = new GradeBook(base);
    const deps = { tokens: this.tokens, courses: this.courses, book: this.#book };
    this.scores = new ScoreService(base, deps);
    this.lineItems = lineItemService(base, deps);
    this.results = resultService(base, deps);
    this.members = membershipService(base, deps);
    this.notices = new NoticeHandlers(base, this.tokens);
  }

  /** Starts an LMS with a server of its own, on loopback. */
  static async start(issuer?: string): Promise<Lms> {
    // A test's client that returns after a while finds its connection open, however busy the machine is.
    const server = createServer({ keepAliveTimeout: 120_000 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const lms = new Lms(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, issuer);
    lms.#server = server;
    server.on('request', (request, response) => lms.answer(request, response));
    return lms;
  }

  get authEndpoint(): string {
    return `${this.base}/authorize`;
  }

  get tokenEndpoint(): string {
    return `${this.base}/token`;
  }

  get jwksEndpoint(): string {
    return `${this.base}/jwks`;
  }

  /** The id of the signing key. */
  get kid(): string {
    return this.#key.kid;
  }

  register(tool: Registered): void {
    this.#tools.set(tool.clientId, tool);
  }

  /** Signs with a new key from now on; the former key stays published if `overlap`. */
  rotate({ overlap = true, kid = systemRandom.hex(4) } = {}): void {
    this.#key = newKey(kid);
    this.#published = [jwkOf(this.#key), ...(overlap ? this.#published : [])];
  }

  /** Opens a link for a person. Returns the address to which the browser is sent (third-party initiated login). */
  open(clientId: string, opened: Partial<Launch> = {}, fault: Fault = {}): URL {
    const tool = this.#tools.get(clientId);
    if (!tool) throw new Error(`${clientId} is not registered at this LMS`);
    const launch: Launch = {
      user: { id: `user-${systemRandom.hex(5)}` },
      roles: [LEARNER],
      course: { id: 'history-1', title: 'History' },
      resourceLinkId: 'link-1',
      targetLinkUri: tool.targetLinkUri,
      ...opened,
    };
    const hint = systemRandom.hex(8);
    // Drops launches that nobody finishes, the oldest first.
    for (const oldest of this.#launches.keys()) {
      if (this.#launches.size < MAX_LAUNCHES) break;
      this.#launches.delete(oldest);
    }
    this.#launches.set(hint, { launch, fault, clientId });
    this.#launches.set(launch.user.id, { launch, fault, clientId });
    const url = new URL(tool.loginInitiationUrl);
    const parameters = {
      iss: this.issuer,
      login_hint: launch.user.id,
      target_link_uri: launch.targetLinkUri,
      lti_message_hint: hint,
    };
    for (const [name, value] of Object.entries({ ...parameters, client_id: clientId })) url.searchParams.set(name, value);
    if (this.sendsDeployment) url.searchParams.set('lti_deployment_id', tool.deploymentId);
    if (launch.storageTarget !== undefined) url.searchParams.set('lti_storage_target', launch.storageTarget);
    fault.login?.(url.searchParams);
    return url;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => (this.#server ? this.#server.close(resolve) : resolve(undefined)));
  }

  /** Listens again on its former port, with its former state. */
  async resume(): Promise<void> {
    await new Promise<void>((resolve) => this.#server?.listen(Number(new URL(this.base).port), '127.0.0.1', resolve));
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', this.base);
    if (url.pathname === '/jwks') this.#keySet(response);
    else if (url.pathname === '/authorize') this.#authorize(url.searchParams, response);
    else if (url.pathname === '/token') void this.tokens.answer(request, response);
    else if (url.pathname === RETURN_PATH) void this.deepLinks.answer(request, response);
    else if (url.pathname.startsWith('/ags/')) void this.#agsService(url).answer(request, response);
    else if (url.pathname.startsWith('/pns/')) void this.notices.service.answer(request, response);
    else if (url.pathname.startsWith('/nrps/')) void this.members.answer(request, response);
    else (this.paths.get(url.pathname) ?? notFound)(request, response);
  }

  #agsService({ pathname }: URL): Pick<Service, 'answer'> {
    if (pathname.endsWith('/scores')) return this.scores;
    return pathname.endsWith('/results') ? this.results : this.lineItems;
  }

  #keySet(response: ServerResponse): void {
    this.keySetRequests += 1;
    const json = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const manners: Record<KeySetManner, () => void> = {
      well: () => json(200, { keys: this.#published }),
      down: () => response.destroy(),
      slow: () => undefined,
      huge: () => json(200, { keys: this.#published, padding: 'x'.repeat(1024 * 1024) }),
      html: () => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Maintenance</h1>'),
      error: () => json(500, { error: 'oops' }),
      'no keys': () => json(200, { keys: null }),
    };
    manners[this.keySetManner]();
  }

  /** The authorization end point (1EdTech Security Framework §5.1.1.2–3). An error is a text with status 400. */
  #authorize(parameters: URLSearchParams, response: ServerResponse): void {
    const begun = this.#launches.get(parameters.get('lti_message_hint') ?? parameters.get('login_hint') ?? '');
    const wrong = begun
      ? this.#wrongWith(parameters, begun.launch, begun.clientId)
      : 'lti_message_hint or login_hint is not mine';
    if (!begun || wrong !== undefined) {
      response.writeHead(400, { 'content-type': 'text/plain' }).end(wrong);
      return;
    }
    const fields = new URLSearchParams({ state: parameters.get('state') ?? '', id_token: this.#idToken(parameters, begun) });
    begun.fault.form?.(fields);
    const inputs = [...fields].map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`).join('');
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(
        `<form method="post" action="${parameters.get('redirect_uri')}">${inputs}</form>` +
          '<script>document.forms[0].submit()</script>',
      );
  }

  #wrongWith(parameters: URLSearchParams, launch: Launch, clientId: string): string | undefined {
    const is = (name: string, value: string): boolean => parameters.getAll(name).join() === value;
    if (!is('client_id', clientId)) return 'client_id';
    if (!this.#tools.get(clientId)?.redirectUris.includes(parameters.get('redirect_uri') ?? '')) return 'redirect_uri';
    if (!is('scope', 'openid')) return 'scope';
    if (!is('response_type', 'id_token')) return 'response_type';
    if (!is('response_mode', 'form_post')) return 'response_mode';
    if (!is('prompt', 'none')) return 'prompt';
    if (!is('login_hint', launch.user.id)) return 'login_hint';
    if ((parameters.get('nonce') ?? '').length < 16) return 'nonce';
    if ((parameters.get('state') ?? '').length < 16) return 'state';
    return undefined;
  }

  #idToken(parameters: URLSearchParams, { launch, fault, clientId }: { launch: Launch; fault: Fault; clientId: string }): string {
    const deploymentId = this.#tools.get(clientId)?.deploymentId ?? '';
    const nonce = parameters.get('nonce') ?? '';
    const to = {
      base: this.base,
      issuer: this.issuer,
      clientId,
      deploymentId,
      nonce,
      now: Math.floor(Date.now() / 1000),
      lifetimeSeconds: ID_TOKEN_SECONDS,
      lineItem: this.#book.lineItemOf(launch, clientId),
    };
    const claims = claimsOf(launch, to);
    Object.assign(claims, this.launchClaims?.(this.courses.historyOf(launch.course?.id ?? '')));
    fault.claims?.(claims);
    this.courses.launched(launch, clientId);
    this.#book.offer((claims[AGS] as { lineitem?: unknown } | undefined)?.lineitem, launch, clientId);
    const key = this.#signer(fault.signer ?? 'own');
    const header: Claims = { typ: 'JWT', alg: FAMILIES.find((one) => one === fault.signer) ?? 'RS256', kid: key.kid };
    fault.header?.(header);
    const token = signed(header, claims, key);
    return fault.token?.(token) ?? token;
  }

  /** Returns a signed notice to a tool (Platform Notification Service 1.0); `claims` are added to those that every notice has. */
  notice(clientId: string, type: string, claims: Claims = {}, fault: Fault = {}): string {
    const now = Math.floor(Date.now() / 1000);
    const all: Claims = {
      iss: this.issuer,
      aud: clientId,
      azp: clientId,
      iat: now,
      exp: now + 3600,
      nonce: systemRandom.uuid(),
      [`${LTI}/version`]: '1.3.0',
      [`${LTI}/deployment_id`]: this.#tools.get(clientId)?.deploymentId,
      [`${LTI}/notice`]: { id: systemRandom.uuid(), timestamp: new Date().toISOString(), type },
      ...claims,
    };
    fault.claims?.(all);
    const key = this.#signer(fault.signer ?? 'own');
    const header: Claims = { typ: 'JWT', alg: 'RS256', kid: key.kid };
    fault.header?.(header);
    const token = signed(header, all, key);
    return fault.token?.(token) ?? token;
  }

  #publish(key: LmsKey, as: Claims): LmsKey {
    this.#published.push(jwkOf(key, as));
    return key;
  }

  #signer(signer: Signer): LmsKey {
    if (signer === 'own') return this.#key;
    const family = FAMILIES.find((one) => one === signer);
    if (family) return this.#publish(keyFor(family, systemRandom.hex(4)), { alg: family });
    if (signer === 'bare') return this.#publish(newKey(systemRandom.hex(4)), { alg: undefined, use: undefined });
    const key = signer === 'weak' ? weakKey(signer) : newKey(signer === 'impostor' ? this.#key.kid : signer);
    if (signer === 'weak') this.#published.push(jwkOf(key));
    if (signer === 'encryption') this.#published.push(jwkOf(key, { use: 'enc' }));
    return key;
  }
}
