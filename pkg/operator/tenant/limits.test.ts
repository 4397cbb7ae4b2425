import { expect, test } from '@jest/globals';
import type { ObservedTenant } from '../kinds.ts';
import { accessOf, withinLimits } from './limits.ts';

const GIB = 1024 ** 3;
const tenant = (database: string) => ({ spec: { limits: { database } } }) as Pick<ObservedTenant, 'spec'>;

test.each([
  ['50Gi', 0, 'write'],
  ['50Gi', 50 * GIB, 'write'],
  ['50Gi', 50 * GIB + 1, 'read'],
  ['50Gi', 62.5 * GIB, 'read'],
  ['50Gi', 62.5 * GIB + 1, 'none'],
  ['0', 1, 'read'],
  ['0', GIB, 'read'],
  ['0', GIB + 1, 'none'],
])('with a limit of %s, tables of %d bytes let the role %s', (limit, databaseBytes, access) => {
  expect(accessOf(tenant(limit), { databaseBytes })).toBe(access);
  expect(withinLimits(tenant(limit), { databaseBytes })).toMatchObject({
    status: access === 'write' ? 'True' : 'False',
    reason: access === 'write' ? 'HasRoom' : 'OverLimit',
  });
});

test('a tenant that was never measured may write', () => {
  expect(accessOf(tenant('0'), undefined)).toBe('write');
});
