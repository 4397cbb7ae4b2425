import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { type Claims, LTI } from './claims.ts';
import type { Fault } from './faults.ts';
import { escaped, page } from '../html.ts';
import { bodyOf } from './manner.ts';
import { keysOfTool } from './token.ts';

/** Names of claims as in Deep Linking 2.0 §4.4–4.5. */
const DL = 'https://purl.imsglobal.org/spec/lti-dl/claim';
export const SETTINGS = `${DL}/deep_linking_settings`;
export const RETURN_PATH = '/deep-links/return';

interface ReturnedItem {
  readonly type: string;
  readonly url?: string;
  readonly title?: string;
  readonly text?: string;
  readonly custom?: Readonly<Record<string, string>>;
  readonly lineItem?: Readonly<Record<string, unknown>>;
  readonly expiresAt?: string;
  readonly mediaType?: string;
}

/** A valid answer of a tool. */
export interface Returned {
  readonly method: string;
  readonly claims: JWTPayload;
  readonly items: readonly ReturnedItem[];
  readonly data: unknown;
  readonly cookies: string | undefined;
}

/** Turns a launch into a deep linking request; `settings` replace the defaults, and undefined leaves a setting out. */
export const deepLinking = (base: string, settings: Readonly<Record<string, unknown>> = {}, more: Fault = {}): Fault => ({
  ...more,
  claims: (claims: Claims): void => {
    claims[`${LTI}/message_type`] = 'LtiDeepLinkingRequest';
    delete claims[`${LTI}/resource_link`];
    delete claims[`${LTI}/target_link_uri`];
    claims[SETTINGS] = {
      deep_link_return_url: `${base}${RETURN_PATH}?course=1`,
      accept_types: ['ltiResourceLink', 'link', 'file', 'image', 'html'],
      accept_presentation_document_targets: ['iframe', 'window'],
      accept_multiple: true,
      data: '_48076_1::{"a": "ü"} %2F',
      ...settings,
    };
    more.claims?.(claims);
  },
});

/** Returns the tool of a client id. */
type ToolOf = (clientId: string) => { readonly jwksUrl: string; readonly deploymentId: string } | undefined;

/** Receives what people chose in a tool. It is strict about every rule on the response (Deep Linking 2.0 §4.5). */
export class DeepLinkReturns {
  readonly answers: Returned[] = [];
  /** The faults of refused answers. */
  readonly wrong: string[] = [];
  readonly #base: string;
  readonly #issuer: string;
  readonly #toolOf: ToolOf;

  constructor({ base, issuer }: { readonly base: string; readonly issuer: string }, toolOf: ToolOf) {
    this.#base = base;
    this.#issuer = issuer;
    this.#toolOf = toolOf;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.#base);
    const parameters = request.method === 'POST' ? new URLSearchParams(await bodyOf(request)) : url.searchParams;
    const send = (status: number, title: string, body = ''): void =>
      void response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(page(title, body));
    try {
      const claims = await this.read(parameters.get('JWT') ?? '');
      const items = claims[`${DL}/content_items`] as ReturnedItem[];
      const method = request.method ?? '';
      this.answers.push({ method, claims, items, data: claims[`${DL}/data`], cookies: request.headers.cookie });
      const list = items.map(({ type, title = '' }) => `<li>${escaped(`${type}: ${title}`)}</li>`).join('');
      send(200, `The LMS received ${items.length} by ${method}`, `<ul>${list}</ul>`);
    } catch (error) {
      this.wrong.push((error as Error).message);
      send(400, `The LMS refuses: ${(error as Error).message}`);
    }
  }

  /** Returns the claims of a valid response. Throws an Error that says what is wrong. */
  async read(jwt: string): Promise<JWTPayload> {
    const clientId = decodeJwt(jwt).iss ?? '';
    const tool = this.#toolOf(clientId);
    if (!tool) throw new Error('iss is not one of my tools');
    const { payload, protectedHeader } = await jwtVerify(jwt, await keysOfTool(tool.jwksUrl), {
      algorithms: ['RS256'],
      issuer: clientId,
      audience: this.#issuer,
      requiredClaims: ['exp', 'iat', 'nonce'],
    });
    const wrong = Object.entries({
      kid: typeof protectedHeader.kid !== 'string',
      aud: Array.isArray(payload.aud),
      exp: (payload.exp ?? 0) - (payload.iat ?? 0) !== 3600,
      nonce: typeof payload['nonce'] !== 'string' || payload['nonce'].length < 16,
      message_type: payload[`${LTI}/message_type`] !== 'LtiDeepLinkingResponse',
      version: payload[`${LTI}/version`] !== '1.3.0',
      deployment_id: payload[`${LTI}/deployment_id`] !== tool.deploymentId,
      content_items: !Array.isArray(payload[`${DL}/content_items`]),
    }).flatMap(([name, isWrong]) => (isWrong ? [name] : []));
    if (wrong.length > 0) throw new Error(`wrong: ${wrong.join(', ')}`);
    for (const item of payload[`${DL}/content_items`] as ReturnedItem[]) requireItem(item);
    return payload;
  }
}

function requireItem({ type, url, title, text, custom, lineItem, expiresAt }: ReturnedItem): void {
  if (!['ltiResourceLink', 'link', 'file', 'image'].includes(type)) throw new Error(`the type ${type}`);
  if (typeof url !== 'string' || !URL.canParse(url)) throw new Error(`${type} without url`);
  if (!title || !text) throw new Error(`${type} without title or text`);
  if (type === 'file' && !(Date.parse(expiresAt ?? '') > Date.now())) throw new Error('a file that does not expire');
  if (custom && !Object.values(custom).every((value) => typeof value === 'string'))
    throw new Error('custom has values other than text');
  if (lineItem && !(Number(lineItem['scoreMaximum']) > 0)) throw new Error('a line item without scoreMaximum');
}
