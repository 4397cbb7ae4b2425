import { expect, test } from '@jest/globals';
import { retiredWords } from './words.ts';

test('a retired word is found with its line and with what to write', () => {
  expect(retiredWords('one\ntwo arrows between packages\n')).toEqual([
    { line: 2, message: '"arrows between" is a retired word; use: import rule' },
  ]);
});

test('the terms of the field pass', () => {
  expect(retiredWords('A package imports only packages of a lower layer.\nconst low = Math.floor(x);')).toEqual([]);
});

test.each([
  '/** design: section 7 */',
  '// specification.md, Events',
  '(design: Sign-in)',
  'as the specification says',
  'lines of design, section 12',
])('a comment that cites a document outside of the repository is found: %s', (comment) => {
  expect(retiredWords(comment)).toHaveLength(1);
});

test.each(['docs/design/lti.md, A launch', 'the Standard Webhooks specification', 'a design that reads well'])(
  '%s passes',
  (comment) => {
    expect(retiredWords(comment)).toEqual([]);
  },
);
