import { Problem } from '../../api/problem.ts';
import { retryAfterMs } from '../../api/retry-schedule.ts';
import { EgressError, type EgressErrorCode } from '../../net/egress-error.ts';
import { ServiceTokenError } from './service-tokens.ts';

/** A service of the platform by its name for people, and the scope that it requires. */
export interface Service {
  readonly name: 'line items' | 'results' | 'scores' | 'members';
  readonly scope: string;
}

/** An unsuccessful reply; `words`: see shownAnswer. */
export interface Refusal {
  readonly method: string;
  readonly status: number;
  readonly words: string;
  readonly retryAfter: string | undefined;
}

/**
 * Whether the address of a refused request is that of one line item or of the whole course, or whether the request names a link
 * in it.
 */
export type Asked = 'item' | 'course' | 'link';

const RETRY_SECONDS_DEFAULT = 30;
const RETRY_SECONDS_MAX = 3600;

const UNREACHABLE = new Set<EgressErrorCode>(['dns_failed', 'connect_failed', 'connection_lost']);
const LATE = new Set<EgressErrorCode>(['timeout', 'connect_timeout']);
/** Errors that occur after the request was sent. */
const SENT = new Set<EgressErrorCode>(['timeout', 'connection_lost', 'reply_too_large', 'bad_reply']);

/** The LMS does not offer the service in this course, according to its last launch or its answer. */
export const serviceMissing = ({ name, scope }: Service, why: string): Problem =>
  new Problem(
    'lms_service_missing',
    `${why}. An administrator of the LMS must let this tool use the service for ${name} (${scope}).`,
  );

const failed = (what: string, cause?: unknown): Problem => new Problem('lms_failed', `${sentence(what)}.`, { cause });

/** An answer that does not conform to the standard. `isWriting`: the request was a change. */
export const unusable = (what: string, isWriting = false): Problem =>
  failed(unknown(`the LMS's answer cannot be used: ${what}`, isWriting));

export const late = (isWriting: boolean): Problem =>
  new Problem('lms_timeout', `${unknown('The LMS did not answer in time', isWriting)}.`);

/** Adds what a lost or unusable answer to a change means. */
const unknown = (what: string, isWriting: boolean): string =>
  isWriting ? `${what}. The LMS may have made the change: check before you try again` : what;

const unavailable = (what: string, retryAfter: string | undefined, now: Date): Problem =>
  new Problem('lms_unavailable', `${sentence(what)}.`, { retryAfter: retrySeconds(retryAfter, now) });

function retrySeconds(header: string | undefined, now: Date): number {
  const wanted = Math.ceil(retryAfterMs(header, now) / 1000);
  return wanted > 0 ? Math.min(wanted, RETRY_SECONDS_MAX) : RETRY_SECONDS_DEFAULT;
}

/** Returns the Problem if no readable answer came. Returns an abort, and an error that is not the LMS's, unchanged. */
export function problemOfError(error: unknown, service: Service, { now, isWriting }: { now: Date; isWriting: boolean }): unknown {
  if (error instanceof ServiceTokenError) return problemOfTokenError(error, service, now);
  if (!(error instanceof EgressError) || error.code === 'aborted') return error;
  const isUnknown = isWriting && SENT.has(error.code);
  if (LATE.has(error.code)) return late(isUnknown);
  if (!UNREACHABLE.has(error.code)) return failed(unknown(`the LMS cannot be used: ${error.message}`, isUnknown), error);
  return unavailable(unknown(`the LMS cannot be reached: ${error.message}`, isUnknown), undefined, now);
}

function problemOfTokenError(error: ServiceTokenError, service: Service, now: Date): Problem {
  const { cause, status = 0 } = error;
  if (error.isScopeRefused) return serviceMissing(service, sentence(error.message));
  if (cause instanceof EgressError && LATE.has(cause.code)) return late(false);
  if (isLate(status)) return late(false);
  const isPassing = isBusy(status) || (cause instanceof EgressError && UNREACHABLE.has(cause.code));
  return isPassing ? unavailable(error.message, error.retryAfter, now) : failed(error.message, error);
}

const isBusy = (status: number): boolean => status === 425 || status === 429 || status === 503;
const isLate = (status: number): boolean => status === 408 || status === 504;

/** Returns the Problem if the LMS refused even a new token. */
export function problemOfRefusal(refusal: Refusal, service: Service, asked: Asked, now: Date): Problem {
  const { status, method } = refusal;
  const answered = `the LMS answered ${status}${refusal.words === '' ? '' : ` (${refusal.words})`}`;
  if (status === 401)
    return failed(`${answered} to a new token too; its web server may drop the Authorization header, which it must pass on`);
  // Schoology answers 400 to a request for one link; Canvas answers 404 for a link that it does not know.
  if (asked === 'link' && service.name === 'members' && (status === 400 || status === 404))
    return new Problem(
      'lms_service_missing',
      `${sentence(answered)}: it does not list the people of this link. ` +
        'The list of the members of the course contains everyone.',
    );
  if (status === 403) return serviceMissing(service, sentence(answered));
  if (status === 405 || status === 501)
    return new Problem(
      'lms_service_missing',
      `${sentence(answered)}: it does not accept ${method} for ${service.name}. Do that in the LMS itself.`,
    );
  if (asked === 'link' && status === 404)
    return new Problem(
      'lms_refused',
      `${sentence(answered)}: the request names a link that this tool does not have in the course.`,
    );
  if (status === 404 || status === 410)
    return asked === 'item'
      ? new Problem('not_found', `${sentence(answered)}: the line item no longer exists.`)
      : failed(
          `${answered}: the course or something that the request names does not exist; ` +
            'a new launch of the course renews its addresses',
        );
  if (isBusy(status)) return unavailable(answered, refusal.retryAfter, now);
  if (isLate(status)) return late(method !== 'GET');
  if (status >= 500) return failed(unknown(answered, method !== 'GET'));
  if (status < 400) return failed(`${answered}; redirects are not followed`);
  return new Problem('lms_refused', `${sentence(answered)}.`);
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
