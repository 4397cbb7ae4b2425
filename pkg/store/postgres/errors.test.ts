import { expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../unavailable.ts';
import pg from 'pg';
import { isNotCommitted, sqlState, translateError } from './errors.ts';

const pgError = (code: string, more: object = {}): Error => Object.assign(new Error(`of ${code}`), { code, ...more });

test.each(['57P01', '57P03', '08006', '53300', '28P01', 'ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN'])(
  '%s means that Postgres is unavailable',
  (code) => {
    expect(translateError(pgError(code))).toBeInstanceOf(StoreUnavailableError);
  },
);

test.each([
  ['23505', 'UniqueViolation'],
  ['23503', 'ForeignKeyViolation'],
  ['23514', 'CheckViolation'],
  ['57014', 'StatementTimeout'],
  ['55P03', 'LockTimeout'],
  ['40P01', 'SerializationFailure'],
])('%s is a %s', (code, name) => {
  expect(translateError(pgError(code, { constraint: 'c', table: 't' }))).toMatchObject({ name });
});

test('a violated constraint is named', () => {
  expect(translateError(pgError('23505', { constraint: 'users_email_key', table: 'users' }))).toMatchObject({
    constraint: 'users_email_key',
    table: 'users',
  });
});

test('an error that Sequelize wraps is unwrapped; its own time-out at the pool means unavailable', () => {
  const wrapped = Object.assign(new Error('Validation error'), {
    name: 'SequelizeUniqueConstraintError',
    parent: pgError('23505', { constraint: 'x' }),
  });
  const acquire = Object.assign(new Error('Operation timeout'), { name: 'SequelizeConnectionAcquireTimeoutError' });

  expect(translateError(wrapped)).toMatchObject({ name: 'UniqueViolation', constraint: 'x' });
  expect(translateError(acquire)).toBeInstanceOf(StoreUnavailableError);
});

test('a programming error is not converted', () => {
  const error = pgError('42703');

  expect(translateError(error)).toBe(error);
  expect(sqlState(error)).toBe('42703');
  expect(translateError('text')).toBe('text');
});

test.each([
  ['23505', true],
  ['57014', true],
  ['40P01', true],
  ['22P02', true],
  ['XX000', true],
  ['40003', false], // statement completion unknown
  ['57P01', false],
  ['08007', false], // transaction resolution unknown
])('an error %s of Postgres means that nothing was committed: %s', (code, expected) => {
  const reported = Object.assign(new pg.DatabaseError('of Postgres', 0, 'error'), { code });

  expect(isNotCommitted(translateError(reported))).toBe(expected);
});

test('an error of the program says nothing about the commit, even if it has a code', () => {
  expect([new TypeError('undefined is not an object'), pgError('EPERM')].map((error) => isNotCommitted(error))).toEqual([
    false,
    false,
  ]);
});
