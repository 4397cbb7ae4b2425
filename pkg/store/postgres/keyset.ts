/*
 * Keyset paging (docs/design/api-conventions.md, Lists): the order of a list, the condition for the rows after the last one of
 * the previous page, and the values of that row which a cursor holds. One declaration per list.
 *
 * Invariants:
 * - Paging shows every row that exists throughout exactly once, in order, whatever is inserted meanwhile: the tie-breaker makes
 *   the order total.
 * - Nulls come last in ascending and first in descending order, as in Postgres. A key that may be null is declared so.
 */

import { isoTime } from './client.ts';

export type KeyValue = string | number | null;

/** A sort key of rows R. */
export interface Key<R> {
  /** The expression to sort by. */
  readonly sql: string;
  /** Returns the value of a row, as a cursor holds it. */
  readonly value: (row: R) => KeyValue;
  /** Returns the expression of that value, given its parameter. */
  readonly operand: (parameter: string) => string;
  readonly nullable?: boolean;
}

export const textKey = <R>(sql: string, value: (row: R) => string | null): Key<R> => ({
  sql,
  value,
  operand: (p) => `${p}::text`,
});
/**
 * A name, in the order that people expect (docs/design/lists.md, Names): the collation carrel.names of the shard. An index
 * for it must have the same expression.
 */
export const nameKey = <R>(column: string, value: (row: R) => string | null): Key<R> => ({
  sql: `${column} COLLATE carrel.names`,
  value,
  operand: (p) => `${p}::text`,
});
export const integerKey = <R>(sql: string, value: (row: R) => number | null): Key<R> => ({
  sql,
  value,
  operand: (p) => `${p}::bigint`,
});
/** A column with whole milliseconds, since a cursor holds no more. `value` may return a text as Postgres writes it. */
export const timeKey = <R>(sql: string, value: (row: R) => Date | string | null): Key<R> => ({
  sql,
  value: (row) => {
    const time = value(row);
    return typeof time === 'string' ? isoTime(time) : (time?.toISOString() ?? null);
  },
  operand: (p) => `${p}::timestamptz`,
});
/** Text compared without case. Postgres folds both sides, since JavaScript folds differently (ς, i̇). */
export const foldedKey = <R>(column: string, value: (row: R) => string | null): Key<R> => ({
  sql: `lower(${column})`,
  value,
  operand: (p) => `lower(${p}::text)`,
});

/** The parameters of a statement: `add` returns $1, $2 …. */
export class Parameters {
  readonly values: unknown[] = [];
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

export interface Statement {
  readonly sql: string;
  readonly params: readonly unknown[];
}

export interface SortKey<F extends string = string> {
  readonly field: F;
  readonly descending: boolean;
}

/** Parameters of a page; pkg/api/paging.ts reads them from the query. */
export interface KeysetRequest<F extends string = string> {
  readonly limit: number;
  /** Never empty. The last key is the tie-breaker, or follows from an earlier key, so that the order is total. */
  readonly sort: readonly SortKey<F>[];
  /** The sort values of the last row of the previous page; undefined on the first page. */
  readonly after: readonly KeyValue[] | undefined;
}

/** The orders that a query may request of a list. */
export interface ListOrder<F extends string> {
  /** The sort fields that a query may name. */
  readonly fields: readonly F[];
  /** The order without `sort`, which may use a field that a query cannot name. */
  readonly fallback: F | `-${F}`;
  /** The unique field at the end. */
  readonly tieBreaker: F;
  /** The fields that may be null in a row; default: none. */
  readonly nullable?: readonly F[];
}

export interface Keyset<R, F extends string> {
  readonly order: ListOrder<F>;
  orderBy(request: KeysetRequest<F>): string;
  /** Returns the condition for rows after the cursor; none on the first page. */
  after(request: KeysetRequest<F>, params: Parameters): string[];
  /**
   * Returns the order and conditions of a page of the rows that have one value in a column, for an index on that column followed
   * by the sort keys.
   */
  within(
    column: Within,
    request: KeysetRequest<F>,
    params: Parameters,
  ): { readonly orderBy: string; readonly where: readonly string[] };
  /** Returns the values of the cursor after a row. */
  valuesOf(request: KeysetRequest<F>, row: R): KeyValue[];
}

/** A column, and the operand that it equals. */
export interface Within {
  readonly sql: string;
  readonly operand: string;
}

/** `keys`: the fields that a query may name, the fallback and the tie-breaker. */
export function keyset<R, F extends string>(
  list: { readonly keys: Readonly<Record<F, Key<R>>> } & Omit<ListOrder<NoInfer<F>>, 'nullable'>,
): Keyset<R, F> {
  const { keys, ...named } = list;
  const order = { ...named, nullable: (Object.keys(keys) as F[]).filter((field) => keys[field].nullable) };
  const orderBy = ({ sort }: KeysetRequest<F>): string =>
    sort.map(({ field, descending }) => ordered(keys[field].sql, descending)).join(', ');
  const bounds = ({ sort, after }: KeysetRequest<F>, params: Parameters): readonly Bound[] | undefined =>
    after && sort.map(({ field, descending }, at) => bound(keys[field], descending, after[at] ?? null, params));
  const after = (request: KeysetRequest<F>, params: Parameters): string[] => {
    const reached = bounds(request, params);
    return reached ? [rowsAfter(reached)] : [];
  };
  return {
    order,
    orderBy,
    after,
    within(column, request, params) {
      const descending = request.sort[0]?.descending ?? false;
      const isUniform = request.sort.every((key) => key.descending === descending && !keys[key.field].nullable);
      if (!isUniform)
        return { orderBy: orderBy(request), where: [`${column.sql} = ${column.operand}`, ...after(request, params)] };
      // Ranges instead of the equality: the order then names the column, so that the planner uses this index alone. With an
      // equality it may read an index of all rows in that order and drop those with another value, which is most of a large
      // table.
      const reached = bounds(request, params);
      const first = { ...column, descending, nullable: false, isNull: false };
      const where = reached
        ? [rowsAfter([first, ...reached]), `${column.sql} ${descending ? '>=' : '<='} ${column.operand}`]
        : [`${column.sql} BETWEEN ${column.operand} AND ${column.operand}`];
      return { orderBy: `${ordered(column.sql, descending)}, ${orderBy(request)}`, where };
    },
    valuesOf: ({ sort }, row) => sort.map(({ field }) => keys[field].value(row)),
  };
}

/** Returns the statement of one page plus one row, which shows whether there is another page. */
export function selectPage<F extends string>(
  list: Pick<Keyset<never, F>, 'orderBy' | 'after'>,
  request: KeysetRequest<F>,
  statement: { readonly columns: string; readonly from: string; readonly where: (params: Parameters) => readonly string[] },
): Statement {
  const params = new Parameters();
  const conditions = [...statement.where(params), ...list.after(request, params)];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const limit = params.add(request.limit + 1);
  const sql = `SELECT ${statement.columns} FROM ${statement.from} ${where} ORDER BY ${list.orderBy(request)} LIMIT ${limit}`;
  return { sql, params: params.values };
}

const ordered = (sql: string, descending: boolean): string => `${sql} ${descending ? 'DESC' : 'ASC'}`;

/** One key at its value in the cursor. */
interface Bound {
  readonly sql: string;
  readonly operand: string;
  readonly descending: boolean;
  readonly nullable: boolean;
  readonly isNull: boolean;
}

function bound<R>({ sql, operand, nullable = false }: Key<R>, descending: boolean, value: KeyValue, params: Parameters): Bound {
  const isNull = nullable && value === null;
  return { sql, operand: isNull ? 'NULL' : operand(params.add(value)), descending, nullable, isNull };
}

/**
 * In one direction and without nulls, this is a row comparison, which an index serves; otherwise (a > x) OR (a = x AND b < y) OR
 * ….
 */
function rowsAfter(bounds: readonly Bound[]): string {
  const [first] = bounds;
  if (bounds.every(({ descending, nullable }) => descending === first?.descending && !nullable)) {
    const [keys, values] = [bounds.map(({ sql }) => sql), bounds.map(({ operand }) => operand)];
    return `(${keys.join(', ')}) ${first?.descending ? '<' : '>'} (${values.join(', ')})`;
  }
  const branches = bounds.map((each, at) => `(${[...bounds.slice(0, at).map(equal), beyond(each)].join(' AND ')})`);
  return `(${branches.join(' OR ')})`;
}

const equal = ({ sql, operand, isNull }: Bound): string => (isNull ? `${sql} IS NULL` : `${sql} = ${operand}`);

function beyond({ sql, operand, descending, nullable, isNull }: Bound): string {
  if (isNull) return descending ? `${sql} IS NOT NULL` : 'false';
  const compared = `${sql} ${descending ? '<' : '>'} ${operand}`;
  return nullable && !descending ? `(${compared} OR ${sql} IS NULL)` : compared;
}
