import { expect, test } from '@jest/globals';
import type { ObservedTenant } from '../../kinds.ts';
import { accessOf, usageStatus, withinLimits } from './limits.ts';
import { GIB } from '../../../runtime/bytes.ts';

type Limited = Pick<ObservedTenant, 'spec' | 'status'>;
const tenant = (database: string, readOnlyFromBytes?: number): Limited =>
  ({
    spec: { limits: { database } },
    status: { usage: readOnlyFromBytes === undefined ? {} : { readOnlyFromBytes } },
  }) as Limited;

test.each([
  ['50Gi', undefined, 0, 'write'],
  ['50Gi', undefined, 50 * GIB, 'write'],
  ['50Gi', undefined, 50 * GIB + 1, 'read'],
  ['50Gi', undefined, 500 * GIB, 'read'],
  ['50Gi', 51 * GIB, 63.5 * GIB, 'read'],
  ['50Gi', 51 * GIB, 63.5 * GIB + 1, 'none'],
  ['50Gi', 500 * GIB, 513 * GIB, 'none'],
  ['50Gi', 51 * GIB, 50 * GIB, 'write'],
  ['60Gi', 51 * GIB, 75 * GIB, 'read'],
  ['0', 1, GIB + 1, 'read'],
  ['0', 1, GIB + 2, 'none'],
])('with a limit of %s, once only read at %s bytes, tables of %d bytes let the role %s', (limit, from, databaseBytes, access) => {
  expect(accessOf(tenant(limit, from), { databaseBytes })).toBe(access);
  expect(withinLimits(tenant(limit, from), { databaseBytes })).toMatchObject({
    status: access === 'write' ? 'True' : 'False',
    reason: access === 'write' ? 'HasRoom' : 'OverLimit',
  });
});

test('a tenant that was never measured may write', () => {
  expect(accessOf(tenant('0'), undefined)).toBe('write');
});

test('the status keeps the size at which a tenant could first only be read, until it may write again', () => {
  const counts = { users: 1, files: 0, bytes: 0, entries: 0 };
  const over = usageStatus(tenant('1Gi'), { ...counts, databaseBytes: 2 * GIB });
  const grown = usageStatus(tenant('1Gi', 2 * GIB), { ...counts, databaseBytes: 3 * GIB });

  expect([over?.readOnlyFromBytes, grown?.readOnlyFromBytes]).toEqual([2 * GIB, 2 * GIB]);
  expect(usageStatus(tenant('4Gi', 2 * GIB), { ...counts, databaseBytes: 3 * GIB })).toEqual({
    ...counts,
    databaseBytes: 3 * GIB,
  });
});
