import { expect, test } from '@jest/globals';
import { foldedEmail } from './attempts.ts';

test.each(['Irina@Example.org', 'irina@example.org', 'İrİna@example.org'])('%j is guessed at as irina@example.org', (spelled) => {
  expect(foldedEmail(spelled)).toBe('irina@example.org');
});
