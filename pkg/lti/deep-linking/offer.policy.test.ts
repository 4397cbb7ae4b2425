import { expect, test } from '@jest/globals';
import { isTaken, offerOf } from './offer.policy.ts';
import { answerOf } from './response.policy.ts';

const INSTRUCTOR = 'http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor';
const LEARNER = 'http://purl.imsglobal.org/vocab/lis/v2/membership#Learner';

test('an instructor may give what the LMS accepts, in our order, and never html', () => {
  expect(offerOf({ acceptTypes: ['html', 'file', 'x-future', 'ltiResourceLink'] }, [INSTRUCTOR])).toEqual({
    types: ['ltiResourceLink', 'file'],
    isOwnOnly: false,
  });
});

test.each([[['file']], [['file', 'link', 'image', 'html']]])(
  'a learner hands in own files where the LMS accepts %j',
  (acceptTypes) => {
    expect(offerOf({ acceptTypes }, [LEARNER])).toEqual({ types: ['file'], isOwnOnly: true });
  },
);

test.each([
  ['a learner', [LEARNER], ['file', 'ltiResourceLink']],
  ['a learner', [LEARNER], ['link']],
  ['somebody without a role', [], ['ltiResourceLink']],
  [
    'an administrator of the institution',
    ['http://purl.imsglobal.org/vocab/lis/v2/institution/person#Administrator'],
    ['ltiResourceLink'],
  ],
])('%s in the roles %j may choose nothing of %j', (_who, roles, acceptTypes) => {
  expect(() => offerOf({ acceptTypes }, roles)).toThrow(expect.objectContaining({ code: 'picker_not_for_learners' }));
});

test.each([
  ['file', 'application/pdf', ['application/pdf'], true],
  ['file', 'application/pdf', ['image/*', 'application/*'], true],
  ['file', 'application/pdf', ['application/pd'], false],
  ['file', 'applications/pdf', ['application/*'], false],
  ['file', null, ['image/*'], false],
  ['file', null, ['*/*'], true],
  ['file', null, undefined, true],
  ['file', 'Text/Plain; charset=utf-8', ['text/plain'], true],
  ['link', 'application/pdf', ['image/*'], true],
  ['ltiResourceLink', null, ['image/*'], true],
  ['image', 'image/png', ['text/*'], true],
  ['image', 'text/plain', undefined, false],
  ['image', null, undefined, false],
] as const)('as %s, %s where %j is accepted: %s', (type, mimeType, mediaTypes, is) => {
  expect(isTaken(type, mimeType, { mediaTypes })).toBe(is);
});

test.each([
  ['https://lms.example.org/r', 'https://lms.example.org/r?JWT=a.b.c'],
  ['https://lms.example.org/r?', 'https://lms.example.org/r?JWT=a.b.c'],
  ['https://lms.example.org/r?x=a%20b', 'https://lms.example.org/r?x=a%20b&JWT=a.b.c'],
  ['https://lms.example.org/r?x=1&', 'https://lms.example.org/r?x=1&JWT=a.b.c'],
  ['https://lms.example.org/r?x=1#f', 'https://lms.example.org/r?x=1&JWT=a.b.c#f'],
])('an answer by Query to %s keeps what it has', (returnUrl, url) => {
  expect(answerOf('Query', returnUrl, 'a.b.c')).toEqual({ method: 'get', url, jwt: 'a.b.c' });
});

test('an address of 8,192 characters is taken, a longer one refused; a form takes any', () => {
  const start = 'https://lms.example.org/r?JWT=';
  const jwt = 'x'.repeat(8192 - start.length);

  expect(answerOf('Query', 'https://lms.example.org/r', jwt).url).toHaveLength(8192);
  expect(() => answerOf('Query', 'https://lms.example.org/r', `${jwt}x`)).toThrow(
    expect.objectContaining({ code: 'answer_too_long' }),
  );
  expect(answerOf('FormPost', 'https://lms.example.org/r', `${jwt}x`).url).toBe('https://lms.example.org/r');
});
