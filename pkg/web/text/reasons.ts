import { type Key, t } from './lti.ts';

/**
 * The server's sentences about a grade that is not yet in the grade book, and the text for each. The first match counts; its
 * named groups are values of the text, and `rest` is itself such a sentence.
 */
const REASONS: readonly (readonly [RegExp, Key])[] = [
  [/^given up after (?<attempts>\d+) attempts: (?<rest>.+)$/s, 'reason.givenUp'],
  [/^the LMS gave no token: (?<rest>.+)$/s, 'reason.noToken'],
  [/^a newer score (?:was submitted before this one|exists: .*)$/s, 'reason.newer'],
  [/; a newer score of this person is about to be sent$/, 'reason.waits'],
  [/; it is sent again with a later timestamp$/, 'reason.later'],
  [/; clocks differ: that of the LMS \((?<theirs>\S+)\) is (?<seconds>\d+) s /, 'reason.clocks'],
  [/; clocks may differ/, 'reason.clocksMay'],
  [/^(?:the LMS|it) answered (?<status>\d{3})(?:; redirects are not followed)?$/, 'reason.answered'],
  [
    /^(?:the LMS|it) answered (?<status>\d{3})(?:: | \()(?<words>.*?)\)?(?:; redirects are not followed)?$/s,
    'reason.answeredThat',
  ],
  [/^the registration of the LMS is not active$/, 'reason.inactive'],
  [/^the private key of the registration cannot be opened$|^the registration has no key yet$/, 'reason.key'],
  [/^it did not grant /, 'reason.scope'],
  [/^its (?:answer holds no usable access_token|token_type is not Bearer)$/, 'reason.odd'],
  [/^(?<host>\S+) (?:did not .+ within|was silent for) \d+ ms$/, 'reason.late'],
  [/^(?<host>\S+) has no valid TLS certificate or does not speak TLS /, 'reason.tls'],
  [/ (?:sent a reply of more than \d+ bytes|sent more headers than are accepted|does not speak HTTP\/1\.1)$/, 'reason.odd'],
  [
    / (?:leads to a private address|is reachable only by https)$|^the address (?:at .+ contains|is not an http) /,
    'reason.address',
  ],
  [
    /^(?<host>\S+) (?:does not resolve to an address$|accepts no connection on port |ended |stopped |went )/,
    'reason.unreachable',
  ],
  [/^(?<host>\S+) (?:did not finish its reply|was sent nothing): /, 'reason.unreachable'],
];

/** Returns the sentence in the language of the page; without a matching text, the server's own sentence. */
export function reasonInWords(reason: string): string {
  for (const [pattern, key] of REASONS) {
    const found = pattern.exec(reason);
    if (!found) continue;
    const { rest, ...values } = found.groups ?? {};
    return t(key, rest === undefined ? values : { ...values, rest: reasonInWords(rest) });
  }
  return reason;
}
