import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, readConfig, wholeNumber } from './config.ts';

const schema = z.object({
  CARREL_DATABASE_URL: z
    .url({ protocol: /^postgres$/, error: 'must be a postgres address' })
    .describe('postgres://user:password@host:5432/database'),
  CARREL_PORT: wholeNumber(1, 65_535).default(8080).describe('a port, 8080 when left out'),
});

const messageOf = (env: NodeJS.ProcessEnv): string => {
  try {
    readConfig('server', schema, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
  }
  return 'no ConfigError';
};

test('settings are read by name, with their defaults', () => {
  const env = { CARREL_DATABASE_URL: 'postgres://u:p@h/d', UNRELATED: 'x' };

  expect(readConfig('server', schema, env)).toEqual({ CARREL_DATABASE_URL: 'postgres://u:p@h/d', CARREL_PORT: 8080 });
});

test('a value may end with the line end of a Secret', () => {
  const env = { CARREL_DATABASE_URL: 'postgres://u:p@h/d\r\n', CARREL_PORT: '\n' };

  expect(readConfig('server', schema, env)).toEqual({ CARREL_DATABASE_URL: 'postgres://u:p@h/d', CARREL_PORT: 8080 });
});

test('a missing setting results in one line: what is missing, where, and what to do', () => {
  expect(messageOf({})).toBe(
    'server: CARREL_DATABASE_URL is missing. Set it to postgres://user:password@host:5432/database (docs/operate/settings.md).',
  );
});

test('an empty setting counts as missing', () => {
  expect(messageOf({ CARREL_DATABASE_URL: '' })).toMatch(/^server: CARREL_DATABASE_URL is missing\./);
});

test('a wrong setting is named without its value', () => {
  const message = messageOf({ CARREL_DATABASE_URL: 'mysql://root:hunter2@h' });

  expect(message).toMatch(/^server: CARREL_DATABASE_URL is not valid: must be a postgres address\. Set it to postgres:/);
  expect(message).not.toContain('hunter2');
});

test.each(['0', '65536', '8080.5', '-1', '1e3', ' 80', '0x50', '9'.repeat(40)])('port %j is refused', (value) => {
  expect(messageOf({ CARREL_DATABASE_URL: 'postgres://h/d', CARREL_PORT: value })).toMatch(
    /CARREL_PORT is not valid: must be a whole number from 1 to 65535/,
  );
});
