import { expect, test } from '@jest/globals';
import { isRedisUnavailable } from './unavailable.ts';

const reply = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' });

test.each([
  'LOADING Valkey is loading the dataset in memory',
  'BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  "OOM command not allowed when used memory > 'maxmemory'.",
  'MISCONF Errors writing to the AOF file',
  "READONLY You can't write against a read only replica.",
  'NOAUTH Authentication required.',
  'WRONGPASS invalid username-password pair or user is disabled.',
  'ERR Function not found',
  'ERR max number of clients reached',
])('a server that answers "%s" cannot serve', (message) => {
  expect(isRedisUnavailable(reply(message))).toBe(true);
});

test.each([
  'WRONGTYPE Operation against a key holding the wrong kind of value',
  "NOPERM User tenant_a has no permissions to run the 'get' command",
  'ERR wrong number of arguments',
  'BUSYKEY Target key name already exists.',
])('"%s" is a mistake of whoever asked', (message) => {
  expect(isRedisUnavailable(reply(message))).toBe(false);
});

test('a call without an answer found no server', () => {
  expect(isRedisUnavailable(new Error('Command timed out'))).toBe(true);
  expect(isRedisUnavailable(undefined)).toBe(true);
});
