import { expect, test } from '@jest/globals';
import type { Job } from '../../api/operations.generated.ts';
import { isArchiveGone, wayOf } from './ways.ts';

const exported = (expires_at: string | null): Job =>
  ({
    kind: 'export',
    state: 'succeeded',
    result: { url: 'https://files.example.org/api/v1/tickets/1', expires_at, size: 1, sha256: '' },
  }) as Job;

test('an archive is offered until it is deleted, and one without an end for ever', () => {
  const jobs = ['2026-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z', null].map(exported);

  expect(jobs.map((job) => wayOf(job)?.label)).toEqual([undefined, 'Download archive', 'Download archive']);
  expect(jobs.map(isArchiveGone)).toEqual([true, false, false]);
});
