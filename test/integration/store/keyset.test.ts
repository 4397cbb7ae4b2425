import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { listPage } from '../../../pkg/api/paging.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { foldedKey, integerKey, keyset, Parameters, textKey, timeKey } from '../../../pkg/store/postgres/keyset.ts';
import { quoteLiteral, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { ownStores } from '../../support/suites/server-suite.ts';

interface Row {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  readonly at: Date;
  readonly endedAt: Date | null;
  readonly note: string | null;
}
const FIELDS = ['name', 'folded', 'size', 'at', 'ended_at', 'note', 'id'] as const;
type Field = (typeof FIELDS)[number];
interface SortKey {
  readonly field: Field;
  readonly descending: boolean;
}

const ROWS = keyset<Row, Field>({
  keys: {
    name: textKey('name', ({ name }) => name),
    folded: foldedKey('name', ({ name }) => name),
    size: integerKey('size', ({ size }) => size),
    at: timeKey('at', ({ at }) => at),
    ended_at: { ...timeKey('"endedAt"', ({ endedAt }) => endedAt), nullable: true },
    note: { ...textKey('note', ({ note }) => note), nullable: true },
    id: integerKey('id', ({ id }) => id),
  },
  fields: FIELDS,
  fallback: '-at',
  tieBreaker: 'id',
});

const running = ownStores();
const pool = fixture(
  async () => new SqlPool({ url: running.postgres.operator, poolSize: 1, log: silentLogger }),
  (opened) => opened.close(),
);

/** Few values of each, so that most rows tie with others. */
const text = fc.constantFrom('', 'a', 'A', 'b', 'Zoë', '%', '\u{1f4c1}', '\uffee');
const time = fc
  .constantFrom('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '1999-12-31T23:59:59.999Z')
  .map((at) => new Date(at));
const row = fc.record({
  name: text,
  size: fc.constantFrom(0, -1, 7, Number.MAX_SAFE_INTEGER),
  at: time,
  endedAt: fc.option(time),
  note: fc.option(text),
});
const sort = fc
  .uniqueArray(fc.record({ field: fc.constantFrom(...FIELDS), descending: fc.boolean() }), {
    selector: ({ field }) => field,
    maxLength: 3,
  })
  .map((keys) => (keys.length === 0 ? undefined : keys));

const rowsAsTable = (rows: readonly Row[]): string =>
  `jsonb_to_recordset(${quoteLiteral(JSON.stringify(rows))}::jsonb)
   AS r (id bigint, name text COLLATE "C", size bigint, at timestamptz, "endedAt" timestamptz, note text COLLATE "C")`;

const parameter = (keys: readonly SortKey[] | undefined): string | undefined =>
  keys?.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join(',');

/** The order as Postgres documents it, in memory: null is greater than every value, and the id decides between equals. */
function byKeys(keys: readonly SortKey[] = [{ field: 'at', descending: true }]): (a: Row, b: Row) => number {
  const total = [...keys, { field: 'id' as const, descending: keys[0]?.descending ?? false }];
  return (a, b) => {
    for (const { field, descending } of total) {
      const [left, right] = [valueOf(a, field), valueOf(b, field)];
      const order = left === null || right === null ? Number(left === null) - Number(right === null) : compare(left, right);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };
}

const valueOf = (each: Row, field: Field): string | number | Date | null => {
  if (field === 'folded') return each.name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return field === 'ended_at' ? each.endedAt : each[field];
};

const compare = (left: string | number | Date, right: string | number | Date): number =>
  typeof left === 'string' ? Buffer.compare(Buffer.from(left), Buffer.from(String(right))) : Number(left) - Number(right);

test('every page holds the rows after the last one of the page before, in order, whatever is inserted meanwhile', async () => {
  const lists = fc.record({
    sort,
    limit: fc.integer({ min: 1, max: 3 }),
    initial: fc.array(row, { maxLength: 10 }),
    /** The rows that are inserted before each page but the first. */
    inserted: fc.array(fc.array(row, { maxLength: 2 }), { maxLength: 6 }),
    seed: fc.nat(),
  });

  await fc.assert(
    fc.asyncProperty(lists, async ({ sort: keys, limit, initial, inserted, seed }) => {
      let made = 0;
      // Ids in an order that is not the one of insertion; 7919 and 9973 have no common factor.
      const insert = (rows: readonly Omit<Row, 'id'>[]): Row[] =>
        rows.map((each) => ({ ...each, id: ((seed % 9973) + ++made * 7919) % 9973 }));
      const rows = insert(initial);
      const order = byKeys(keys);
      let last: Row | undefined;
      let cursor: string | undefined;
      for (let at = 0; ; at += 1) {
        if (at > 0) rows.push(...insert(inserted[at - 1] ?? []));
        const left = rows.filter((each) => last === undefined || order(each, last) > 0).toSorted(order);

        const page = await listPage(
          pool,
          { limit, sort: parameter(keys), cursor },
          { keyset: ROWS, columns: '*', from: rowsAsTable(rows), where: () => [], present: (each) => each },
        );

        expect(page.data).toEqual(left.slice(0, limit));
        expect(page.pagination.has_more).toBe(left.length > limit);
        if (page.pagination.next_cursor === null) break;
        cursor = page.pagination.next_cursor;
        last = page.data.at(-1);
      }
    }),
    { numRuns: 300, endOnFailure: false },
  );
});

test('one direction without nulls is one row comparison, which an index serves', () => {
  const request = { limit: 1, sort: [{ field: 'name', descending: true } as const, { field: 'id', descending: true } as const] };

  const params = new Parameters();

  expect(ROWS.after({ ...request, after: ['a', 1] }, params)).toEqual(['(name, id) < ($1::text, $2::bigint)']);
  expect(params.values).toEqual(['a', 1]);
});

test('within one value of a column the order and the condition name the column, so that its index serves them', () => {
  const sort = [{ field: 'name', descending: true } as const, { field: 'id', descending: true } as const];
  const column = { sql: 'owner', operand: '$1' };
  const params = new Parameters();
  params.add(7);

  expect(ROWS.within(column, { limit: 1, sort, after: undefined }, params)).toEqual({
    orderBy: 'owner DESC, name DESC, id DESC',
    where: ['owner BETWEEN $1 AND $1'],
  });
  expect(ROWS.within(column, { limit: 1, sort, after: ['a', 1] }, params)).toEqual({
    orderBy: 'owner DESC, name DESC, id DESC',
    where: ['(owner, name, id) < ($1, $2::text, $3::bigint)', 'owner >= $1'],
  });
  expect(
    ROWS.within(column, { limit: 1, sort: [{ field: 'note', descending: false }, ...sort.slice(1)], after: undefined }, params),
  ).toEqual({
    orderBy: 'note ASC, id DESC',
    where: ['owner = $1'],
  });
});
