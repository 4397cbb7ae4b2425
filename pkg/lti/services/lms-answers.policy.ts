import { STATUS_CODES } from 'node:http';
import type { EgressError, EgressErrorCode } from '../../net/egress-error.ts';
import { shownText } from '../../net/shown-text.ts';

const FINAL = new Set<EgressErrorCode>(['address_refused', 'url_refused', 'plain_http_refused', 'request_refused']);

/** The address itself is the fault. */
export const isFinalEgress = ({ code }: EgressError): boolean => FINAL.has(code);

/** Statuses after which the same request may be taken later (RFC 9110 §15.5, RFC 8470 §5.2, RFC 6585 §4). */
const PASSING = new Set([408, 425, 429]);

/** A redirect may be that of an LMS under maintenance, to its page. */
export const mayPass = (status: number): boolean => status >= 500 || (status >= 300 && status < 400) || PASSING.has(status);

/** For people. `words`: shownAnswer. */
export function answerText(status: number, words: string): string {
  const isRedirect = status >= 300 && status < 400;
  return `the LMS answered ${status}${words === '' ? '' : `: ${words}`}${isRedirect ? '; redirects are not followed' : ''}`;
}

/** JSON that says nothing: Moodle sends `[]` with every refusal. */
const EMPTY = /^\s*(?:\[\s*\]|\{\s*\}|null|"")?\s*$/;

/**
 * The message of an answer beside its status: the phrase of the status line where it is another than the standard's (Moodle's
 * reasons stand there), and the body where that says anything. '' for neither.
 */
export function shownAnswer(
  { status, statusText, text }: { status: number; statusText: string; text: string },
  secrets: readonly string[],
): string {
  const isStandard = statusText.toLowerCase() === STATUS_CODES[status]?.toLowerCase();
  const said = [isStandard ? '' : shownText(statusText, secrets), EMPTY.test(text) ? '' : shownText(text, secrets)];
  return shownText(said.filter((part) => part !== '').join(': '), secrets);
}
