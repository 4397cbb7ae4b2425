import { PageProblem } from '../../api/page.ts';
import { REGISTRATION_ERRORS_DE } from './registration-errors.de.ts';

/**
 * The catalogue of reasons why an LMS is not registered: the codes of the registration page. Each has its status and the sentence
 * that an administrator of the LMS reads; docs/connect-an-lms.md lists them. Sources: 1EdTech LTI Dynamic Registration 1.0,
 * OpenID Connect Discovery 1.0 §3, RFC 7591 §3.
 */
export const REGISTRATION_ERRORS = {
  // The link
  link_unknown: { status: 404, meaning: 'This registration link does not exist. Ask for a new one.' },
  link_expired: { status: 410, meaning: 'This registration link has expired. Ask for a new one.' },
  link_used: { status: 409, meaning: 'This link has already registered an LMS. Each LMS needs its own link.' },
  link_busy: { status: 409, meaning: 'This link is registering an LMS right now. Try again in a minute.' },
  start_at_lms: {
    status: 400,
    meaning: 'This address registers an LMS. Paste it into the LMS where it registers tools dynamically.',
  },
  form_invalid: {
    status: 400,
    meaning: 'This form does not belong to this page, or is more than an hour old. Start again at the LMS.',
  },
  registration_token_invalid: { status: 400, meaning: 'The LMS sent a registration token that cannot be used.' },
  // The LMS's configuration
  configuration_address_refused: {
    status: 400,
    meaning: "This service does not call the address of the LMS's configuration.",
  },
  configuration_unreachable: { status: 503, meaning: 'The LMS cannot be reached at the address of its configuration.' },
  configuration_timeout: { status: 504, meaning: 'The LMS did not send its configuration in time.' },
  configuration_redirected: {
    status: 502,
    meaning: 'The LMS redirects the address of its configuration, but this service does not follow redirects.',
  },
  configuration_refused: { status: 502, meaning: 'The LMS did not return its configuration.' },
  configuration_invalid: { status: 502, meaning: 'The LMS did not send a valid configuration.' },
  issuer_foreign: { status: 403, meaning: 'The issuer that the configuration names is not at the host that sent it.' },
  endpoint_refused: { status: 400, meaning: 'The configuration of the LMS names an address that this service does not call.' },
  platform_unsupported: { status: 422, meaning: 'The LMS does not offer what this service needs.' },
  issuer_conflict: { status: 409, meaning: 'This issuer is already registered with this key set, but with other addresses.' },
  too_many_registrations: { status: 409, meaning: 'Too many registrations are waiting for the operator of this service.' },
  // The answer to the registration
  registration_unreachable: {
    status: 503,
    meaning: 'The LMS cannot be reached at its registration address. Nothing was registered.',
  },
  registration_unanswered: {
    status: 504,
    meaning: 'The LMS did not answer. If it shows the tool, delete it there, and register again.',
  },
  registration_token_refused: { status: 502, meaning: 'The LMS did not accept its registration token. Start again at the LMS.' },
  registration_refused: { status: 502, meaning: 'The LMS refused the registration.' },
  registration_answer_invalid: {
    status: 502,
    meaning: 'The answer of the LMS is not a valid registration. If the LMS shows the tool, delete it there, and register again.',
  },
  client_id_taken: { status: 409, meaning: 'The LMS assigned a client id that is already registered for it.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type RegistrationErrorCode = keyof typeof REGISTRATION_ERRORS;

/** A refused registration, with a code of the catalogue. */
export class RegistrationError extends PageProblem {
  override readonly name = 'RegistrationError';
  declare readonly code: RegistrationErrorCode;

  /** `more` follows the catalogue's sentence: the details, or the LMS's answer. */
  constructor(code: RegistrationErrorCode, more?: string, options: { cause?: unknown } = {}) {
    const { status, meaning } = REGISTRATION_ERRORS[code];
    const withMore = (sentence: string): string => (more === undefined ? sentence : `${sentence} ${more}`);
    super(code, status, withMore(meaning), { ...options, messages: { de: withMore(REGISTRATION_ERRORS_DE[code]) } });
  }
}
