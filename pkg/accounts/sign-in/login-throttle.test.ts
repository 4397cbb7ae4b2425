import { expect, test } from '@jest/globals';
import { delayMs, foldedEmail } from './login-throttle.ts';

test.each(['Irina@Example.org', 'irina@example.org', 'İrİna@example.org'])(
  'guesses for %j count as guesses for irina@example.org',
  (spelled) => {
    expect(foldedEmail(spelled)).toBe('irina@example.org');
  },
);

test('twenty failures cause no delay; then every five double it, up to four seconds', () => {
  expect([0, 19, 20, 24, 25, 30, 35, 40, 45, 50, 100_000].map(delayMs)).toEqual([
    0, 0, 250, 250, 500, 1000, 2000, 4000, 4000, 4000, 4000,
  ]);
});
