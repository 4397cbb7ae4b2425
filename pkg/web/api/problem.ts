/** A field that the API refused, and why. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** What to say at a field, with the id of the request that was refused. */
export interface FieldRefusal {
  readonly text: string;
  readonly requestId: string | undefined;
}

interface ProblemFields {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly requestId?: string | undefined;
  readonly fields?: readonly FieldProblem[] | undefined;
  readonly retryAfter?: number | undefined;
}

interface FieldWords {
  /** Returns own words for what people meet. */
  readonly own: (message: string) => string | undefined;
  /** Returns a whole sentence. */
  readonly any: (message: string) => string;
}

let words: FieldWords = { own: () => undefined, any: (message) => message };

/** Sets how the page says what the API says of a field: in English, to follow the field's name. */
export function sayFieldsBy(other: FieldWords): void {
  words = other;
}

/**
 * A refusal of the API, by the code of its catalogue. Two codes are the page's own: `unreachable` if no server answered, and
 * `page_failed` for an error of the page itself.
 */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  /** 0 if no server answered. */
  readonly status: number;
  readonly code: string;
  /** For the administrator, who finds the request in the log by it. */
  readonly requestId: string | undefined;
  readonly fields: readonly FieldProblem[];
  /** Seconds after which a retry makes sense. */
  readonly retryAfter: number | undefined;

  constructor({ status, code, message, requestId, fields = [], retryAfter }: ProblemFields, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.fields = fields;
    this.retryAfter = retryAfter;
  }

  /** Returns why the API refused this field, in the words of `sayFieldsBy`. */
  ofField(name: string): FieldRefusal | undefined {
    const found = this.fields.find(({ field }) => field === name);
    return found && this.inWords(words.any(found.message));
  }

  /** Returns our own words for a refusal of one field alone, if there are any. */
  ofOnlyField(): string | undefined {
    const [only, ...others] = this.fields;
    return only && others.length === 0 ? words.own(only.message) : undefined;
  }

  /** Returns the refusal in these words, for the field that it is about. */
  inWords(text: string): FieldRefusal {
    return { text, requestId: this.requestId };
  }
}

/** Returns any error as an ApiProblem. */
export const problemOf = (error: unknown): ApiProblem =>
  error instanceof ApiProblem ? error : new ApiProblem({ status: 0, code: 'page_failed', message: '' }, { cause: error });

export const unreachable = (cause?: unknown): ApiProblem =>
  new ApiProblem({ status: 0, code: 'unreachable', message: '' }, { cause });

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

const PASSING: ReadonlySet<string> = new Set(['unreachable', 'unavailable', 'rate_limit_exceeded', 'internal']);

/** Says whether a problem passes by itself: what was asked for may be there the next time. */
export const isPassing = (error: unknown): boolean => error instanceof ApiProblem && PASSING.has(error.code);

/** Reads the API's error shape. A proxy in between may answer in another: then no server of ours answered. */
export async function problemOfReply(reply: Response): Promise<ApiProblem> {
  const text = await reply.text().catch(() => '');
  try {
    const { error, message, request_id, details, retry_after } = JSON.parse(text) as {
      error: string;
      message: string;
      request_id?: string;
      details?: readonly FieldProblem[];
      retry_after?: number;
    };
    if (typeof error !== 'string') return unreachable();
    const wait = retry_after ?? (Number(reply.headers.get('retry-after')) || undefined);
    return new ApiProblem({
      status: reply.status,
      code: error,
      message,
      requestId: request_id,
      fields: details,
      retryAfter: wait,
    });
  } catch (error) {
    return unreachable(error);
  }
}
