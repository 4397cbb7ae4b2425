import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt } from 'jose';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { Browser, formOf } from './browser.ts';
import type { Claims, Launch } from '../../../pkg/local/demo/lms/claims.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { jwkOf, newKey, signed } from '../../../pkg/local/demo/lms/keys.ts';
import type { Lms } from '../../../pkg/local/demo/lms/lms.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly type: string;
  /** The JSON of the body, or its text where it is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads what the platform sent, whatever that was
  readonly body: any;
}

/** A tool that does nothing but what the documents say: it launches, gets tokens by signed assertions, and calls services. */
export interface ServiceTool {
  readonly clientId: string;
  /** The claims of a launch that went through. */
  launch(opened?: Partial<Launch>, fault?: Fault): Promise<Claims>;
  /** A token for the scopes; throws when there is none. */
  token(scopes: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

/** Registered at the LMS, with a key set of its own on loopback. */
export async function startServiceTool(lms: Lms, clientId: string): Promise<ServiceTool> {
  const key = newKey(systemRandom.hex(4));
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys: [jwkOf(key)] })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const home = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const launchUrl = `${home}/launch`;
  lms.register({
    clientId,
    deploymentId: '1',
    loginInitiationUrl: home,
    targetLinkUri: home,
    redirectUris: [launchUrl],
    jwksUrl: home,
  });

  return {
    clientId,
    launch: async (opened, fault) => {
      const login = lms.open(clientId, opened, fault).searchParams;
      const asked = new URL(lms.authEndpoint);
      const parameters = {
        scope: 'openid',
        response_type: 'id_token',
        response_mode: 'form_post',
        prompt: 'none',
        client_id: clientId,
        redirect_uri: launchUrl,
        login_hint: login.get('login_hint') ?? '',
        lti_message_hint: login.get('lti_message_hint') ?? '',
        nonce: systemRandom.hex(16),
        state: systemRandom.hex(16),
      };
      for (const [name, value] of Object.entries(parameters)) asked.searchParams.set(name, value);
      return decodeJwt(formOf(await new Browser().get(asked)).fields.get('id_token') ?? '');
    },
    token: async (scopes) => {
      const iat = Math.floor(Date.now() / 1000);
      const claims = { iss: clientId, sub: clientId, aud: lms.tokenEndpoint, iat, exp: iat + 60, jti: systemRandom.hex(8) };
      const form = {
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: signed({ alg: 'RS256', typ: 'JWT', kid: key.kid }, claims, key),
        scope: scopes.join(' '),
      };
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const reply = await fetch(lms.tokenEndpoint, { method: 'POST', headers, body: new URLSearchParams(form).toString() });
      const said = (await reply.json()) as { access_token?: string };
      if (said.access_token === undefined) throw new Error(`no token: ${reply.status} ${JSON.stringify(said)}`);
      return said.access_token;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A request of a service. */
export async function call(
  method: string,
  url: string | URL,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<Reply> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const reply = await fetch(url, { method, headers, ...(text === undefined ? {} : { body: text }) });
  const said = await reply.text();
  const isJson = (reply.headers.get('content-type') ?? '').includes('json');
  return {
    status: reply.status,
    headers: reply.headers,
    type: reply.headers.get('content-type') ?? '',
    body: isJson ? JSON.parse(said) : said,
  };
}
