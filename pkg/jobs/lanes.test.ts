import { expect, test } from '@jest/globals';
import type { Leased } from '../store/postgres/leases.ts';
import { range } from '../../test/support/wait.ts';
import { Lanes, type TenantLanes, type Waiting } from './lanes.ts';
import { RenewedLease } from './lease-renewer.ts';

interface Row extends Leased {
  readonly receiver: string;
}

/** Lanes of receivers, with at most two attempts each. */
function lanes() {
  const asked: Row[] = [];
  const laneOf = (row: Row): string => {
    asked.push(row);
    return row.receiver;
  };
  const all = new Lanes<Row>({ laneOf }, () => 2);
  return { asked, all, tenant: all.forTenant('t') };
}

const waiting = (receiver: string, id: number): Waiting<Row> => ({
  row: { id, tenant: 't', receiver } as unknown as Row,
  lease: new RenewedLease(() => undefined),
});

/** Begins all attempts that may begin; returns their rows as `receiver id`. */
function beginAll(tenant: TenantLanes<Row>): string[] {
  const begun: string[] = [];
  for (let lane = tenant.next(); lane; lane = tenant.next()) {
    const { row } = tenant.begin(lane);
    begun.push(`${row.receiver} ${row.id}`);
  }
  return begun;
}

test('the row that has waited longest goes first, and a lane leaves slots to the others', () => {
  const { tenant } = lanes();
  [waiting('a', 1), waiting('a', 2), waiting('a', 3), waiting('b', 4), waiting('a', 5), waiting('c', 6)].forEach((each) =>
    tenant.add(each),
  );

  expect(beginAll(tenant)).toEqual(['a 1', 'a 2', 'b 4', 'c 6']);
  expect(tenant.waiting).toBe(2);
});

test('the end of an attempt begins the next row of its lane', () => {
  const { tenant } = lanes();
  range(4).forEach((id) => tenant.add(waiting('a', id)));
  const lane = tenant.next();
  beginAll(tenant);

  expect(tenant.next()).toBeUndefined();
  if (lane) tenant.end(lane, { isSuccess: true, ms: 5 });
  expect(beginAll(tenant)).toHaveLength(1);
});

test.each([
  ['fails after a second', { isSuccess: false, ms: 1_000 }, true],
  ['fails sooner', { isSuccess: false, ms: 999 }, false],
  ['succeeds after a minute', { isSuccess: true, ms: 60_000 }, false],
])('a lane whose attempt %s has one attempt at once: %j', (_what, outcome, isStalled) => {
  const { all, tenant } = lanes();
  tenant.add(waiting('a', 1));
  const lane = tenant.next();
  if (!lane) throw new Error('no row waits');
  tenant.begin(lane);

  expect(tenant.end(lane, outcome)).toBe(isStalled);
  // The tenant had nothing to do for a while.
  const later = all.forTenant('t');
  range(3).forEach((id) => later.add(waiting('a', id)));
  expect(beginAll(later)).toHaveLength(isStalled ? 1 : 2);
});

test('a full lane is leased last, and one that is stalled or has enough rows waiting is not leased', () => {
  const { tenant } = lanes();
  const add = (receiver: string, rows: number): void => range(rows).forEach((id) => tenant.add(waiting(receiver, id)));
  add('stalls', 1);
  const stalls = tenant.next();
  if (!stalls) throw new Error('no row waits');
  tenant.begin(stalls);
  tenant.end(stalls, { isSuccess: false, ms: 2_000 });
  add('stalls', 1);
  add('full', 3);
  add('has enough', 6);
  beginAll(tenant);

  expect(tenant.request(4)).toEqual({ last: ['full'], none: ['stalls', 'has enough'] });
});

test('rows of one lane are released without those of others', () => {
  const { tenant } = lanes();
  [waiting('a', 1), waiting('b', 2), waiting('a', 3)].forEach((each) => tenant.add(each));
  const lane = tenant.next();

  expect(tenant.release(lane).map(({ row }) => row.id)).toEqual([1, 3]);
  expect(tenant.waiting).toBe(1);
  expect(tenant.release().map(({ row }) => row.id)).toEqual([2]);
});

test('a row is asked for its lane once, however many rows wait', () => {
  const { asked, tenant } = lanes();
  range(500).forEach((id) => tenant.add(waiting(`${id % 3}`, id)));
  for (let lane = tenant.next(); lane; lane = tenant.next()) {
    tenant.begin(lane);
    tenant.end(lane, { isSuccess: true, ms: 1 });
  }

  expect(tenant.waiting).toBe(0);
  expect(asked).toHaveLength(500);
});

test('a queue without lanes has only the limit of its tenants', () => {
  const tenant = new Lanes<Row>({}, () => 1).forTenant('t');
  range(5).forEach((id) => tenant.add(waiting('a', id)));

  expect(beginAll(tenant)).toHaveLength(5);
  expect(tenant.request(0)).toEqual({});
});
