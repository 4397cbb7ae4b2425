import { expect, test } from '@jest/globals';
import { scoreBody, scoresAddress } from './post-score.ts';

test.each([
  ['https://lms.example/ags/1/lineitems/2', 'https://lms.example/ags/1/lineitems/2/scores'],
  ['https://lms.example/ags/1/lineitems/2/', 'https://lms.example/ags/1/lineitems/2/scores'],
  [
    'https://lms.example/mod/lti/services.php/2/lineitems/3/lineitem?type_id=1',
    'https://lms.example/mod/lti/services.php/2/lineitems/3/lineitem/scores?type_id=1',
  ],
  ['https://lms.example/a%2Fb/c?x=%20&y=/z#top', 'https://lms.example/a%2Fb/c/scores?x=%20&y=/z'],
  ['https://lms.example', 'https://lms.example/scores'],
])('scores of %s go to %s', (lineItem, address) => {
  expect(scoresAddress(lineItem)).toBe(address);
});

test('a score has the members that LTI names, and a comment only where there is one', () => {
  const score = {
    lineItem: 'https://lms.example',
    userId: 'u',
    score: 8.5,
    scoreMaximum: 10,
    timestamp: new Date('2026-10-21T07:28:00.005Z'),
  };
  const members = {
    timestamp: '2026-10-21T07:28:00.005Z',
    scoreGiven: 8.5,
    scoreMaximum: 10,
    activityProgress: 'Completed',
    gradingProgress: 'FullyGraded',
    userId: 'u',
  };

  expect(JSON.parse(scoreBody({ ...score, comment: null }))).toEqual(members);
  expect(JSON.parse(scoreBody({ ...score, comment: '' }))).toEqual({ ...members, comment: '' });
});
