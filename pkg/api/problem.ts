import { CATALOGUE, type ProblemCode } from './error-catalogue.ts';

export interface ProblemDetail {
  /** Dotted path of the field, for example `folder_id` or `data.0.name`. */
  readonly field: string;
  readonly message: string;
}

interface ProblemOptions {
  readonly details?: readonly ProblemDetail[];
  /** Whole seconds; becomes `Retry-After`, and `retry_after` of a 429. */
  readonly retryAfter?: number;
  /** Further headers of the reply, for example Content-Range. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A failure with a code of the catalogue; `message` is for people and says what is wrong and what to do. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly details: readonly ProblemDetail[] | undefined;
  readonly retryAfter: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, message?: string, options: ProblemOptions = {}) {
    super(message ?? CATALOGUE[code].meaning, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.retryAfter = options.retryAfter;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return CATALOGUE[this.code].status;
  }
}

/** Returns a 400 that names one field. */
export const invalid = (field: string, message: string): Problem =>
  new Problem('validation_failed', `${field}: ${message}`, { details: [{ field, message }] });
