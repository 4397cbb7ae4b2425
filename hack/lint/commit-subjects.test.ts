import { expect, test } from '@jest/globals';
import { subjectComplaint } from './commit-subjects.ts';

test.each([
  'content: count ranged downloads once',
  'store, lti: read rows by one statement',
  'test/e2e: press the button by keyboard',
  'http: heed Idempotency-Key on every POST',
  'repo: pass over generated files',
  'lti: link, copy and read results',
])('the subject "%s" passes', (subject) => {
  expect(subjectComplaint(subject)).toBeUndefined();
});

test.each([
  ['count ranged downloads once', 'has another form than "package: verb …"'],
  ['content: Count ranged downloads once', 'has another form than "package: verb …"'],
  ['content: counts ranged downloads once', 'says "counts"; write the imperative'],
  ['content: counted ranged downloads once', 'says "counted"; write the imperative'],
  ['content: counting ranged downloads once', 'says "counting"; write the imperative'],
  ['content: count ranged downloads once.', 'ends with a full stop; leave it out'],
  [`content: count ${'x'.repeat(60)}`, 'has 75 characters; write at most 72, and the reason into the body'],
])('the subject "%s" is refused: %s', (subject, complaint) => {
  expect(subjectComplaint(subject)).toBe(complaint);
});
