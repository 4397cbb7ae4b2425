/**
 * The reasons why the helpers refuse a request: HTTP status and meaning. The body is `{ error, message }`; the message is for
 * people.
 */
export const REFUSALS = {
  validation_failed: { status: 400, meaning: 'The request is not valid; the message says which part.' },
  language_unknown: {
    status: 400,
    meaning: 'No translator here knows this language, or this pair; the message lists what is known.',
  },
  source_language_unclear: { status: 400, meaning: 'The language of the text was not recognised; name `source_language`.' },
  unauthenticated: { status: 401, meaning: 'The bearer token is missing or wrong.' },
  not_found: { status: 404, meaning: 'Nothing exists at this address.' },
  method_not_allowed: { status: 405, meaning: 'This address does not allow that method.' },
  request_timeout: { status: 408, meaning: 'The body of the request arrived too slowly.' },
  payload_too_large: { status: 413, meaning: 'The text or the file is too large.' },
  unsupported_media_type: { status: 415, meaning: 'The body, or the file in it, is of another type.' },
  pdf_encrypted: { status: 422, meaning: 'The PDF is encrypted.' },
  pdf_signed: { status: 422, meaning: 'The PDF is signed; `force` accepts that its signature breaks.' },
  pdf_damaged: { status: 422, meaning: 'The PDF cannot be read.' },
  pdf_without_text: { status: 422, meaning: 'The PDF has no text, only images of it.' },
  script_unsupported: { status: 422, meaning: 'The helper has no letters for the script of this language.' },
  pdf_too_complex: { status: 422, meaning: 'The PDF needs more time, memory or pages than a conversion may use.' },
  internal: { status: 500, meaning: 'An internal error; the log has the reason.' },
  busy: { status: 503, meaning: 'Too many requests are in progress; try again after `Retry-After` seconds.' },
  unavailable: { status: 503, meaning: 'No translator answers; try again after `Retry-After` seconds.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type RefusalCode = keyof typeof REFUSALS;

/** A refused request, with a code of the table; `message` says what is wrong and what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  /** Whole seconds, for `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(code: RefusalCode, message?: string, retryAfter?: number) {
    super(message ?? REFUSALS[code].meaning);
    this.code = code;
    this.retryAfter = retryAfter;
  }

  get status(): number {
    return REFUSALS[this.code].status;
  }
}
