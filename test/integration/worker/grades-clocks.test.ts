import { expect, test } from '@jest/globals';
import { SETTINGS } from '../../support/clients/grading.ts';
import { gradingSuite } from '../../support/suites/worker-suite.ts';

const { grading, lms } = gradingSuite(SETTINGS);

test.each([[-3], [-20], [0], [70]])(
  'an LMS whose clock is %i s ahead, and that allows for no difference, takes a grade',
  async (aheadSeconds) => {
    const course = await grading.launch();
    Object.assign(lms.tokens.clock, { aheadSeconds, toleranceSeconds: 0 });
    try {
      const shown = await course.submitted(await course.grade(`clock-${aheadSeconds}`));

      expect(shown).toMatchObject({ reason: null, attempts: 0 });
    } finally {
      Object.assign(lms.tokens.clock, { aheadSeconds: 0, toleranceSeconds: 30 });
    }
  },
);

test.each([
  [-400, 'behind'],
  [400, 'ahead of'],
])('where a clock is wrong, by %i s, the reason says which time the LMS has and which Carrel', async (aheadSeconds, how) => {
  const course = await grading.launch();
  Object.assign(lms.tokens.clock, { aheadSeconds, toleranceSeconds: 0 });
  try {
    const grade = await course.grade(`wrong-clock-${how}`);
    const shown = await course.becomes(grade, ({ reason }) => reason !== null, 'a reason');

    expect(shown).toMatchObject({
      status: 'pending',
      reason: expect.stringMatching(
        new RegExp(
          '^the LMS gave no token: it answered 400 \\(.+\\); clocks differ: that of the LMS \\(\\S+Z\\) is ' +
            `(39|40)\\d s ${how} ours \\(\\S+Z\\)$`,
        ),
      ),
    });
  } finally {
    Object.assign(lms.tokens.clock, { aheadSeconds: 0, toleranceSeconds: 30 });
  }
});
