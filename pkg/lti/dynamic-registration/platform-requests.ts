import type { GuardedClient } from '../../net/client.ts';
import { EgressError, type EgressErrorCode } from '../../net/egress-error.ts';
import type { EgressReply } from '../../net/exchange.ts';
import type { AllowedRange } from '../../net/private-address.ts';
import { shownAnswer } from '../services/lms-answers.policy.ts';
import { type PlatformConfiguration, readConfiguration } from './platform-configuration.policy.ts';
import { RegistrationError } from './registration-error.ts';

const REPLY_BYTES_MAX = 256 * 1024;
const CONFIGURATION_MS = 10_000;
/** Longer than LMSs take, and shorter than an attempt holds its link (links.sql.ts). */
const REGISTRATION_MS = 20_000;

const ADDRESS_REFUSED = new Set<EgressErrorCode>(['url_refused', 'address_refused', 'plain_http_refused', 'request_refused']);
/** Errors that occur before any part of the request is sent. */
const NOT_SENT = new Set<EgressErrorCode>([...ADDRESS_REFUSED, 'dns_failed', 'connect_failed', 'connect_timeout', 'tls_failed']);

/** The two requests of a registration, to addresses that an LMS named: guarded, bounded, without redirects. */
export class PlatformRequests {
  readonly #client: GuardedClient;
  readonly #allow: readonly AllowedRange[];
  readonly #configurationMs: number;

  /** `configurationMs`: how long an LMS may take for its configuration. */
  constructor(deps: { client: GuardedClient; allow: readonly AllowedRange[]; configurationMs?: number }) {
    this.#client = deps.client;
    this.#allow = deps.allow;
    this.#configurationMs = deps.configurationMs ?? CONFIGURATION_MS;
  }

  /** Reads the configuration. `token`: Canvas requires it here too; undefined if the LMS sent none. Throws RegistrationError. */
  async configuration(address: string, token: string | undefined): Promise<PlatformConfiguration> {
    const reply = await this.#client
      .request({ url: address, headers: headersOf(token), timeoutMs: this.#configurationMs, maxBytes: REPLY_BYTES_MAX })
      .catch((error: unknown) => {
        if (!(error instanceof EgressError) || error.code === 'aborted') throw error;
        throw configurationError(error);
      });
    if (reply.status >= 300 && reply.status < 400) throw new RegistrationError('configuration_redirected');
    if (reply.status !== 200) throw new RegistrationError('configuration_refused', wordsOf(reply, token));
    return readConfiguration(jsonOf(reply.body), address, this.#allow);
  }

  /** Returns the answer's JSON, or undefined if it is not JSON. Throws RegistrationError. */
  async register(address: string, body: object, token: string | undefined): Promise<unknown> {
    const reply = await this.#client
      .request({
        url: address,
        method: 'POST',
        headers: { ...headersOf(token), 'content-type': 'application/json' },
        body: JSON.stringify(body),
        timeoutMs: REGISTRATION_MS,
        maxBytes: REPLY_BYTES_MAX,
      })
      .catch((error: unknown) => {
        if (!(error instanceof EgressError) || error.code === 'aborted') throw error;
        if (error.code === 'reply_too_large')
          throw new RegistrationError('registration_answer_invalid', `${error.message}.`, { cause: error });
        const code = NOT_SENT.has(error.code) ? 'registration_unreachable' : 'registration_unanswered';
        throw new RegistrationError(code, `${error.message}.`, { cause: error });
      });
    if (reply.status === 200 || reply.status === 201) return jsonOf(reply.body);
    const isToken = reply.status === 401 || reply.status === 403;
    throw new RegistrationError(isToken ? 'registration_token_refused' : 'registration_refused', wordsOf(reply, token));
  }
}

/** D2L sends no token and refuses an empty Authorization. */
const headersOf = (token: string | undefined): Record<string, string> => ({
  accept: 'application/json',
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
});

function configurationError(error: EgressError): RegistrationError {
  const { code, message } = error;
  const more = `${message}.`;
  if (ADDRESS_REFUSED.has(code)) return new RegistrationError('configuration_address_refused', more, { cause: error });
  if (code === 'timeout' || code === 'connect_timeout')
    return new RegistrationError('configuration_timeout', more, { cause: error });
  if (code === 'reply_too_large' || code === 'bad_reply')
    return new RegistrationError('configuration_invalid', more, { cause: error });
  return new RegistrationError('configuration_unreachable', more, { cause: error });
}

/** Returns the LMS's status and message, without markup and without the token. */
function wordsOf({ status, statusText, body }: EgressReply, token: string | undefined): string {
  const words = shownAnswer({ status, statusText, text: body.toString('utf8') }, token === undefined ? [] : [token]);
  return `It answered ${status}${words === '' ? '' : `: ${words}`}.`;
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}
