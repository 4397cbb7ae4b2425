import { STATUS_CODES } from 'node:http';
import type { EgressError, EgressErrorCode } from '../../net/egress-error.ts';
import { shownText } from '../../net/shown-text.ts';

const FINAL = new Set<EgressErrorCode>(['address_refused', 'url_refused', 'plain_http_refused', 'request_refused']);

/** Returns whether the address itself is the fault, so that trying again does not help. */
export const isFinalEgress = ({ code }: EgressError): boolean => FINAL.has(code);

/** Statuses after which the same request may succeed later (RFC 9110 §15.5, RFC 8470 §5.2, RFC 6585 §4). */
const PASSING = new Set([408, 425, 429]);

/** An LMS under maintenance may redirect to its notice. */
export const mayPass = (status: number): boolean => status >= 500 || (status >= 300 && status < 400) || PASSING.has(status);

/** Returns a text for people. `words`: see shownAnswer. */
export function answerText(status: number, words: string): string {
  const isRedirect = status >= 300 && status < 400;
  return `the LMS answered ${status}${words === '' ? '' : `: ${words}`}${isRedirect ? '; redirects are not followed' : ''}`;
}

/** JSON without content: Moodle sends `[]` with every refusal. */
const EMPTY = /^\s*(?:\[\s*\]|\{\s*\}|null|"")?\s*$/;

/**
 * Returns the message of an answer beside its status: the status line's phrase if it differs from the standard's (Moodle puts its
 * reasons there), and the body if it has content. Returns '' for neither.
 */
export function shownAnswer(
  { status, statusText, text }: { status: number; statusText: string; text: string },
  secrets: readonly string[],
): string {
  const isStandard = statusText.toLowerCase() === STATUS_CODES[status]?.toLowerCase();
  const said = [isStandard ? '' : shownText(statusText, secrets), EMPTY.test(text) ? '' : shownText(text, secrets)];
  return shownText(said.filter((part) => part !== '').join(': '), secrets);
}
