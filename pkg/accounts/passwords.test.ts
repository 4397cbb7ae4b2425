import { expect, test } from '@jest/globals';
import { Passwords } from './passwords.ts';

const passwords = new Passwords();

test.each([
  ['password', true],
  ['Password1', true],
  ['1QAZ2wsx', true],
  ['11111111', true],
  ['password\npassword1', false],
  ['passwor', false],
  ['correct horse battery', false],
  ['xK3-tWq9_vLmZ', false],
  ['', false],
])('%j is a common password: %s', async (password, expected) => {
  expect(await passwords.isCommon(password)).toBe(expected);
});
