import { expect, test } from '@jest/globals';
import { RenewedLease } from './lease-renewer.ts';

test('a lease that is lost aborts the attempt that runs under it', () => {
  const lease = new RenewedLease(() => undefined);
  const { lost } = lease;

  lease.lose();

  expect([lease.isLost, lost.aborted, String(lost.reason)]).toEqual([true, true, 'Error: the lease was lost']);
});

test('a lease that is lost while its row waits is lost for the attempt that begins later', () => {
  const lease = new RenewedLease(() => undefined);

  lease.lose();

  expect([lease.isLost, lease.lost.aborted, String(lease.lost.reason)]).toEqual([true, true, 'Error: the lease was lost']);
});

test('a lease that is held aborts nothing', () => {
  const lease = new RenewedLease(() => undefined);

  expect([lease.isLost, lease.lost.aborted]).toEqual([false, false]);
});
