import { expect, test } from '@jest/globals';
import type { Grade } from './course-api.ts';
import { COMMENT_MAX, gradeInWords, isCommentTooLong, scoreOf } from './scores.ts';

test.each([
  ['8.5', 8.5],
  [' 8,25 ', 8.25],
  ['0', 0],
  ['999.99', 999.99],
  ['', undefined],
  ['8.555', undefined],
  ['1000', undefined],
  ['-1', undefined],
  ['1e2', undefined],
  ['ten', undefined],
])('a score that is typed as “%s” is %s', (typed, score) => {
  expect(scoreOf(typed)).toBe(score);
});

test('a comment may have as many characters as the API takes, however many units each is', () => {
  expect(['', 'é'.repeat(COMMENT_MAX), '😀'.repeat(COMMENT_MAX)].map(isCommentTooLong)).toEqual([false, false, false]);
  expect(['é'.repeat(COMMENT_MAX + 1), '😀'.repeat(COMMENT_MAX + 1)].map(isCommentTooLong)).toEqual([true, true]);
});

test('what became of a grade is said in words', () => {
  const given = { id: '1', line_item_id: null, user_id: 'ben', score: 8.5, score_maximum: 10, comment: null };
  const grade: Grade = { ...given, status: 'pending', reason: null };

  const words = [
    grade,
    { ...grade, reason: 'Your LMS does not answer.' },
    { ...grade, status: 'submitted' as const },
    { ...grade, status: 'failed' as const, reason: 'Your LMS refused it.' },
  ].map(gradeInWords);

  expect(words).toEqual([
    'Sent from here: 8.5 of 10: on its way.',
    'Sent from here: 8.5 of 10: on its way. Your LMS does not answer.',
    'Sent from here: 8.5 of 10: in the grade book of your LMS',
    'Sent from here: 8.5 of 10: not in the grade book. Your LMS refused it.',
  ]);
});
