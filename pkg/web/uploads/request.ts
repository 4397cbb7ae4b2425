import type { Problem } from './problem.ts';

/** A problem of a request, thrown. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message || problem.code);
    this.problem = problem;
  }
}

type Headers = Readonly<Record<string, string>>;

/** The session of whoever uploads. */
export interface Access {
  /** Returns the headers that show it, and are valid for some time. Throws when the session has ended. */
  headers(signal: AbortSignal): Promise<Headers>;
  /** The server refused these: the next ones are others. */
  refused(headers: Headers): void;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  header(name: string): string | null;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'HEAD' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers?: Headers;
  readonly body?: XMLHttpRequestBodyInit;
  readonly signal: AbortSignal;
  /** Called with the bytes of the body that were sent so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

/** Sends a request of an upload. Throws Refused; when the signal aborts, its reason. */
export type Ask = (request: Request) => Promise<Answer>;

/** What is left of a rate limit. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** ms since 1970 */
  readonly resetAt: number;
}

/** `onAllowance` gets the rate limit of each reply that has one. */
export function asking(access: Access, onAllowance: (allowance: Allowance) => void): Ask {
  return async (request) => {
    // The second attempt has a renewed session: one that ends while the bytes are on their way is no end of the session.
    for (let attempt = 1; ; attempt += 1) {
      const own = await access.headers(request.signal).catch((error: unknown) => {
        request.signal.throwIfAborted();
        throw error instanceof Refused ? error : new Refused({ code: 'unauthenticated', message: '' });
      });
      const answer = await send(request, own);
      const allowance = allowanceOf(answer);
      if (allowance) onAllowance(allowance);
      if (answer.status < 300) return answer;
      const problem = problemOf(answer);
      if (problem.code !== 'unauthenticated') throw new Refused(problem);
      access.refused(own);
      if (attempt === 2) throw new Refused(problem);
    }
  };
}

/** Only XMLHttpRequest reports how much of a body is sent. */
function send({ method, url, headers = {}, body, signal, onSent }: Request, own: Headers): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const request = new XMLHttpRequest();
    const stop = (): void => request.abort();
    const ended = (act: () => void) => (): void => {
      signal.removeEventListener('abort', stop);
      act();
    };
    signal.addEventListener('abort', stop);
    request.open(method, url);
    for (const [name, value] of Object.entries({ ...headers, ...own })) request.setRequestHeader(name, value);
    if (onSent) request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
    request.addEventListener(
      'load',
      ended(() =>
        resolve({ status: request.status, text: request.responseText, header: (name) => request.getResponseHeader(name) }),
      ),
    );
    const unreachable = new Refused({ code: 'unreachable', message: '' });
    request.addEventListener(
      'error',
      ended(() => reject(unreachable)),
    );
    request.addEventListener(
      'abort',
      ended(() => reject((signal.reason as Error | undefined) ?? unreachable)),
    );
    request.send(body ?? null);
  });
}

/** A proxy between answers in its own form, and HEAD has no body; the code is then `status_` and the number. */
export function problemOf({ status, text, header }: Answer): Problem {
  const retryAfter = Number(header('Retry-After') ?? Number.NaN);
  const more = {
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
    ...(header('X-Request-Id') === null ? {} : { requestId: header('X-Request-Id') ?? '' }),
  };
  try {
    const { error, message } = JSON.parse(text) as { error: unknown; message: unknown };
    if (typeof error === 'string') return { code: error, message: typeof message === 'string' ? message : '', ...more };
  } catch {
    // not of the API
  }
  return { code: status === 401 ? 'unauthenticated' : `status_${status}`, message: '', ...more };
}

function allowanceOf({ header }: Answer): Allowance | undefined {
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) => header(`X-RateLimit-${name}`));
  if (!limit || !remaining || !reset) return undefined;
  return { limit: Number(limit), remaining: Number(remaining), resetAt: Number(reset) * 1_000 };
}

const RESERVE = 0.1;
const WAIT_MS = { min: 1_000, max: 15_000 } as const;

/**
 * Returns how long to wait so that the page itself still gets answers: a tenth of the person's requests stays for what they look
 * at meanwhile. 0: go on.
 */
export function pauseFor({ limit, remaining, resetAt }: Allowance, now: number): number {
  if (remaining > limit * RESERVE) return 0;
  return Math.min(Math.max((resetAt - now) / 4, WAIT_MS.min), WAIT_MS.max);
}
