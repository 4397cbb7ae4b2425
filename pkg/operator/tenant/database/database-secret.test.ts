import { expect, test } from '@jest/globals';
import { databaseSecret } from './database-secret.ts';

const [OLD, NEW] = ['postgres://t:a@h/d', 'postgres://t:b@h/d'];
const announced = { url: OLD, nextPassword: 'b' };

test('the next password is announced beside the present one, also while a change of the role is put off', () => {
  for (const isPutOff of [false, true])
    expect(databaseSecret(OLD, { password: 'a', next: 'b' }, { url: OLD }, isPutOff)).toEqual(announced);
});

test('the Secret has the new password once the role has it, and opens the role as it is while its change is put off', () => {
  expect(databaseSecret(NEW, { password: 'b' }, announced, false)).toEqual({ url: NEW });
  expect(databaseSecret(NEW, { password: 'b' }, announced, true)).toEqual(announced);
});

test('a Secret that is missing or was edited is made again', () => {
  expect(databaseSecret(NEW, { password: 'b' }, undefined, true)).toEqual({ url: NEW });
});
