import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt } from 'jose';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { newKey, signed } from '../../../pkg/local/demo/lms/keys.ts';
import type { AskedMessage, Face } from '../../../pkg/local/demo/lms/faces.ts';
import type { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { bodyOf } from '../../../pkg/local/demo/lms/manner.ts';

const TOOL = 'https://purl.imsglobal.org/spec/lti-tool-configuration';
const PLATFORM = 'https://purl.imsglobal.org/spec/lti-platform-configuration';
/** The lifetime of Moodle's tokens. */
const TOKEN_SECONDS = 3600;

type Json = Record<string, unknown>;

/** A registration as a tool sends it. */
export interface ToolBody extends Json {
  readonly scope: string;
  readonly redirect_uris: readonly string[];
  readonly [TOOL]: {
    readonly messages: readonly AskedMessage[];
    readonly custom_parameters: Readonly<Record<string, string>>;
  } & Json;
}

/** A tool that registered itself. */
export interface RegisteredTool {
  readonly clientId: string;
  readonly deploymentId: string;
  readonly body: ToolBody;
  state: 'pending' | 'active';
}

/** An answer in place of the proper one. */
export interface OtherAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is; anything else as JSON. */
  readonly body?: unknown;
}

/**
 * The LMS's side of LTI Dynamic Registration 1.0, with the manners of a product: `/openid-configuration` and `/registrations`.
 * Strict about what a tool sends. A test may change what is answered (`configuration`, `answer`), and hold an answer back
 * (`pause`).
 */
export class RegistrationDesk {
  readonly face: Face;
  readonly tools: RegisteredTool[] = [];
  /** Requests so far, with their Authorization. */
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[] = [];
  /** Changes what is sent as the configuration. */
  configuration: (configuration: Json) => OtherAnswer | undefined = () => undefined;
  /** Changes the answer of a registration that was accepted. */
  answer: (answer: Json, response: ServerResponse) => OtherAnswer | 'gone' | undefined = () => undefined;
  pause: Promise<void> | undefined;
  /** The ids of the next tool, in place of the LMS's own choice. */
  next: { readonly clientId?: string; readonly deploymentId?: string } = {};
  readonly lms: Lms;
  readonly #key = newKey(systemRandom.hex(4));
  readonly #tokens = new Set<string>();

  constructor(lms: Lms, face: Face) {
    this.lms = lms;
    this.face = face;
    lms.paths.set('/openid-configuration', (request, response) => this.#configure(request, response));
    lms.paths.set('/registrations', (request, response) => void this.#register(request, response));
  }

  get configurationUrl(): string {
    return `${this.lms.base}/openid-configuration`;
  }

  /** An administrator has pasted the tool's address: what their browser opens. */
  open(link: string): URL {
    const url = new URL(link);
    url.searchParams.set('openid_configuration', this.configurationUrl);
    if (this.face.token !== 'none') url.searchParams.set('registration_token', this.#newToken());
    return url;
  }

  /** An administrator switches the tool on: from now on it can be launched. */
  activate(tool: RegisteredTool): void {
    tool.state = 'active';
    this.lms.register({
      clientId: tool.clientId,
      deploymentId: tool.deploymentId,
      redirectUris: tool.body.redirect_uris,
      loginInitiationUrl: String(tool.body['initiate_login_uri']),
      targetLinkUri: String(tool.body[TOOL]['target_link_uri']),
      jwksUrl: String(tool.body['jwks_uri']),
    });
  }

  #newToken(): string {
    const now = Math.floor(Date.now() / 1000);
    const claims = { sub: `client-${systemRandom.hex(6)}`, iat: now, exp: now + TOKEN_SECONDS };
    const token =
      this.face.token === 'once'
        ? signed({ alg: 'RS256', typ: 'JWT', kid: this.#key.kid }, claims, this.#key)
        : systemRandom.hex(24);
    this.#tokens.add(token);
    return token;
  }

  #noted(request: IncomingMessage): string | undefined {
    const { authorization } = request.headers;
    this.requests.push({ path: new URL(request.url ?? '/', this.lms.base).pathname, authorization });
    return authorization?.replace(/^Bearer /, '');
  }

  #configure(request: IncomingMessage, response: ServerResponse): void {
    const token = this.#noted(request);
    if (this.face.token === 'both' && !this.#tokens.has(token ?? ''))
      return send(response, { status: 401, body: { error: 'unauthorized' } });
    const { base, issuer, authEndpoint, tokenEndpoint, jwksEndpoint } = this.lms;
    const configuration: Json = {
      issuer,
      authorization_endpoint: authEndpoint,
      registration_endpoint: `${base}/registrations`,
      jwks_uri: jwksEndpoint,
      token_endpoint: tokenEndpoint,
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['RS256'],
      scopes_supported: [...this.face.scopes],
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      claims_supported: [...this.face.claims],
      ...(this.face.authorizationServer ? { authorization_server: this.face.authorizationServer(base) } : {}),
      [PLATFORM]: {
        product_family_code: this.face.product,
        version: this.face.version,
        messages_supported: structuredClone(this.face.messages) as unknown[],
        variables: ['ResourceLink.id', 'Context.id', 'ResourceLink.id.history', 'Context.id.history'],
      },
    };
    send(response, this.configuration(configuration) ?? { body: configuration });
  }

  async #register(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = this.#noted(request);
    const body = JSON.parse(await bodyOf(request)) as ToolBody;
    await this.pause;
    const refusal = this.#refusalOf(request, token, body);
    if (refusal) return send(response, refusal);
    const subject = this.face.token === 'once' ? decodeJwt(token ?? '').sub : undefined;
    const tool: RegisteredTool = {
      clientId: this.next.clientId ?? subject ?? `client-${systemRandom.hex(6)}`,
      deploymentId: this.next.deploymentId ?? String(this.tools.length + 7),
      body,
      state: this.face.startsPending ? 'pending' : 'active',
    };
    this.#tokens.delete(token ?? '');
    this.tools.push(tool);
    if (!this.face.startsPending) this.activate(tool);
    const messages = this.face.answeredMessages(body[TOOL].messages);
    const answer: Json = {
      ...body,
      client_id: tool.clientId,
      [TOOL]: {
        ...body[TOOL],
        messages,
        ...(this.face.namesDeployment ? { deployment_id: tool.deploymentId } : {}),
      },
    };
    const other = this.answer(answer, response);
    if (other === 'gone') return void response.destroy();
    send(response, { status: this.face.status, body: answer, ...other });
  }

  #refusalOf(request: IncomingMessage, token: string | undefined, body: ToolBody): OtherAnswer | undefined {
    const refused = (what: string): OtherAnswer => this.face.refuse(what);
    if (this.face.token === 'none' && token !== undefined) return refused('no Authorization is expected');
    if (this.face.token !== 'none' && !this.#tokens.has(token ?? ''))
      return { ...this.face.refuse('token already used'), status: 401 };
    if (request.headers['content-type'] !== 'application/json') return refused('the body is JSON');
    const unknown = body.scope.split(' ').filter((scope) => !this.face.scopes.includes(scope));
    if (unknown.length > 0) return refused(`unknown scope ${unknown.join(' ')}`);
    if (body['application_type'] !== 'web') return refused('application_type');
    if (String(body['response_types']) !== 'id_token') return refused('response_types');
    const grants = body['grant_types'] as readonly string[];
    if (!grants.includes('client_credentials') || !grants.includes('implicit')) return refused('grant_types');
    if (body['token_endpoint_auth_method'] !== 'private_key_jwt') return refused('token_endpoint_auth_method');
    for (const field of ['initiate_login_uri', 'jwks_uri', 'client_name'])
      if (!body[field]) return refused(`missing required attribute ${field}`);
    const tool = body[TOOL];
    if (!tool['domain'] || !tool['target_link_uri'] || !Array.isArray(tool['claims']))
      return refused('missing required attribute of the tool');
    if (!tool.messages.every(({ type }) => this.#hasMessage(type))) return refused('unknown message');
    if (!Object.values(tool.custom_parameters).every((value) => typeof value === 'string' && !/[=\n]/.test(value)))
      return refused('custom parameters are texts');
    return undefined;
  }

  #hasMessage = (type: string): boolean =>
    this.face.messages.some((message) => message === type || (message as { type?: unknown }).type === type);
}

function send(response: ServerResponse, { status = 200, type = 'application/json', headers = {}, body }: OtherAnswer): void {
  response
    .writeHead(status, { 'content-type': type, ...headers })
    .end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
}
