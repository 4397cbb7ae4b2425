import { expect, test } from '@jest/globals';
import { EgressError, type EgressErrorCode } from '../../net/egress-error.ts';
import { shownAnswer } from '../services/lms-answers.policy.ts';
import { resultOfReply, resultOfEgressError } from './replies.policy.ts';

const said = (status: number, isResend = false) => resultOfReply(status, { isResend, text: '', retryAfter: undefined });

test.each([
  [200, 'submitted'],
  [201, 'submitted'],
  [202, 'submitted'],
  [204, 'submitted'],
  [301, 'later'],
  [400, 'failed'],
  [401, 'refused'],
  [403, 'refused'],
  [404, 'failed'],
  [408, 'later'],
  [410, 'failed'],
  [413, 'failed'],
  [422, 'failed'],
  [425, 'later'],
  [429, 'later'],
  [500, 'later'],
  [503, 'later'],
  [504, 'later'],
])('%i is %s, at a first sending and at a resend', (status, kind) => {
  expect([said(status).kind, said(status, true).kind]).toEqual([kind, kind]);
});

test('409 refuses the timestamp at a first sending, and is the very score at a resend', () => {
  expect(said(409)).toEqual({ kind: 'outdated', reason: 'the LMS answered 409' });
  expect(said(409, true)).toEqual({ kind: 'submitted', note: 'the LMS already had it' });
});

test('only an answer that leaves it open makes the next sending a resend', () => {
  const isUnknown = (status: number) => (said(status) as { isUnknown?: boolean }).isUnknown;
  expect([302, 429, 425, 408, 500, 504].map(isUnknown)).toEqual([false, false, false, true, true, true]);
});

test.each<[EgressErrorCode, number | undefined, string, boolean | undefined]>([
  ['address_refused', undefined, 'failed', undefined],
  ['url_refused', undefined, 'failed', undefined],
  ['plain_http_refused', undefined, 'failed', undefined],
  ['dns_failed', undefined, 'later', false],
  ['connect_failed', undefined, 'later', false],
  ['tls_failed', undefined, 'later', false],
  ['connection_lost', undefined, 'later', true],
  ['timeout', undefined, 'later', true],
  ['connect_timeout', undefined, 'later', false],
  ['bad_reply', undefined, 'later', true],
  ['reply_too_large', undefined, 'later', true],
  ['connection_lost', 200, 'submitted', undefined],
  ['timeout', 404, 'failed', undefined],
  ['timeout', 302, 'later', true],
])('%s after the status %s is %s', (code, status, kind, isUnknown) => {
  const result = resultOfEgressError(new EgressError(code, 'x', { status }), false);
  expect([result.kind, (result as { isUnknown?: boolean }).isUnknown]).toEqual([kind, isUnknown]);
});

test.each([
  [
    { status: 409, statusText: 'Refusing score with an earlier timestamp', text: '[]' },
    'Refusing score with an earlier timestamp',
  ],
  [{ status: 404, statusText: 'Not Found', text: '' }, ''],
  [{ status: 404, statusText: 'NOT FOUND', text: ' [ ] ' }, ''],
  [{ status: 400, statusText: '', text: '{"error":"x"}' }, '{"error":"x"}'],
  [{ status: 400, statusText: 'Incorrect score received', text: 'no such user' }, 'Incorrect score received: no such user'],
  [{ status: 400, statusText: 'a\u0000<b>s3cret</b>\u202e', text: '{}' }, 'a …'],
  [{ status: 299, statusText: 'x'.repeat(500), text: 'y'.repeat(500) }, `${'x'.repeat(200)}…`],
])('the answer %j says %j', (answer, shown) => {
  expect(shownAnswer(answer, ['s3cret'])).toBe(shown);
});
