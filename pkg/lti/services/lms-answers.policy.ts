import { STATUS_CODES } from 'node:http';
import type { EgressError, EgressErrorCode } from '../../net/egress-error.ts';
import { shownText } from '../../net/shown-text.ts';

const FINAL = new Set<EgressErrorCode>(['address_refused', 'url_refused', 'plain_http_refused', 'request_refused']);

/** The address itself is the fault. */
export const isFinalEgress = ({ code }: EgressError): boolean => FINAL.has(code);

/** JSON that says nothing: Moodle sends `[]` with every refusal. */
const EMPTY = /^\s*(?:\[\s*\]|\{\s*\}|null|"")?\s*$/;

/**
 * The message of an answer beside its status: the phrase of the status line where it is another than the standard's (Moodle's reasons stand
 * there), and the body where that says anything. '' for neither.
 */
export function shownAnswer(
  { status, statusText, text }: { status: number; statusText: string; text: string },
  secrets: readonly string[],
): string {
  const isStandard = statusText.toLowerCase() === STATUS_CODES[status]?.toLowerCase();
  const said = [isStandard ? '' : shownText(statusText, secrets), EMPTY.test(text) ? '' : shownText(text, secrets)];
  return shownText(said.filter((part) => part !== '').join(': '), secrets);
}
