import { expect, test } from '@jest/globals';
import { courseHistory } from './course-history.policy.ts';

const claim = (said: unknown) => ({ 'http://www.brightspace.com': { user_id: 7, 'Context.id.history': said } });

test.each<[unknown, readonly string[]]>([
  ['6782', ['6782']],
  ['6845,6782', ['6845', '6782']],
  [' 6845 , 6782 ', ['6845', '6782']],
  ['a%2Cb,c%20d', ['a,b', 'c d']],
  ['100%,7', ['100%', '7']],
  ['7,7,,8', ['7', '8']],
  ['', []],
  [Array.from({ length: 30 }, (_, at) => at).join(), Array.from({ length: 20 }, (_, at) => String(at))],
  [7, []],
  [['6782'], []],
  [null, []],
  [undefined, []],
])('the history %j of a course is %j', (said, ids) => {
  expect(courseHistory(claim(said))).toEqual(ids);
});

test.each([
  [{}],
  [{ 'http://www.brightspace.com': null }],
  [{ 'http://www.brightspace.com': 'x' }],
  [{ 'http://www.brightspace.com': [] }],
])('a platform that says %j says no history', (claims) => {
  expect(courseHistory(claims)).toEqual([]);
});

test('custom parameters and claims of the same name elsewhere are no history', () => {
  const custom = { carrel_course_history: '6782', 'Context.id.history': '6782' };

  expect(courseHistory({ 'https://purl.imsglobal.org/spec/lti/claim/custom': custom, 'Context.id.history': '6782' })).toEqual([]);
});
