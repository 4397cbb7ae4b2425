import { z } from 'zod';
import {
  type Keyset,
  type KeysetRequest,
  type KeyValue,
  type ListOrder,
  type Parameters,
  selectPage,
  type SortKey,
} from '../store/postgres/keyset.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { invalid, type Problem } from './problem.ts';
import { eachOncePattern, queryInteger } from './schemas.ts';

/**
 * Lists (docs/design/api-conventions.md): keyset paging, at most 200 items per page, an opaque cursor that holds the sort values
 * of the last item.
 */
const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 200;

export interface Page<T> {
  readonly data: readonly T[];
  readonly pagination: { readonly limit: number; readonly next_cursor: string | null; readonly has_more: boolean };
}

const CURSOR_MAX = 2_000;
/** More keys have no practical use; the limit keeps the pattern of `sort` short. */
const SORT_KEYS_MAX = 3;

/** The query parameters of a list that is sorted by these fields; spread them into the list's own query schema. */
export const pageQueryOf = (fields: readonly string[]) => ({
  limit: queryInteger(1, PAGE_LIMIT_MAX)
    .default(PAGE_LIMIT_DEFAULT)
    .meta({
      'x-openapi': { type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT },
      description: 'items per page',
      example: 20,
    }),
  cursor: z
    .string()
    .max(CURSOR_MAX)
    .regex(/^[A-Za-z0-9_-]+$/, 'does not belong to this list and order; start again without it')
    .optional()
    .meta({ description: '`next_cursor` of the previous page, with the same parameters' }),
  sort: z
    .string()
    .regex(new RegExp(`^${eachOncePattern(fields, { most: SORT_KEYS_MAX, before: '-?' })}$`), sortWords(fields))
    .optional()
    .meta({ description: 'fields by which the list is sorted; a leading - reverses the order', example: `-${fields[0]}` }),
});

const sortWords = (fields: readonly string[]): string =>
  `takes up to ${SORT_KEYS_MAX} of ${fields.join(', ')}, comma-separated and each once; a leading - reverses the order`;

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item),
    pagination: z.object({
      limit: z.int().meta({ example: 50 }),
      next_cursor: z.string().nullable().meta({ example: null }),
      has_more: z.boolean().meta({ example: false }),
    }),
  });

const Cursor = z.object({ s: z.string(), v: z.array(z.union([z.string(), z.number(), z.null()])).max(8) });

/**
 * Reads limit, sort and cursor. `sort` is `field,-field`: only of `fields`, each once; the unique `tieBreaker` is added at the
 * end. A cursor belongs to the order for which it was made; another cursor, or one that was tampered with, is a 400.
 */
export function pageRequest<F extends string>(
  query: { limit: number; cursor?: string | undefined; sort?: string | undefined },
  order: ListOrder<F>,
): KeysetRequest<F> {
  const sort = (query.sort ?? order.fallback).split(',').map((part) => {
    const descending = part.startsWith('-');
    return { field: (descending ? part.slice(1) : part) as F, descending };
  });
  if (query.sort !== undefined && !sort.every(({ field }) => order.fields.includes(field)))
    throw invalid('sort', sortWords(order.fields));
  if (new Set(sort.map(({ field }) => field)).size < sort.length) throw invalid('sort', 'names a field twice');
  if (!sort.some(({ field }) => field === order.tieBreaker))
    sort.push({ field: order.tieBreaker, descending: sort[0]?.descending ?? false });
  return {
    limit: query.limit,
    sort,
    after: query.cursor === undefined ? undefined : decodeCursor(query.cursor, sort, order.nullable),
  };
}

const signature = (sort: readonly SortKey[]): string =>
  sort.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join(',');

function decodeCursor(cursor: string, sort: readonly SortKey[], nullable: readonly string[] = []): readonly KeyValue[] {
  try {
    const decoded = Cursor.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    const fits = decoded.v.every((value, at) => value !== null || nullable.includes(sort[at]?.field ?? ''));
    if (decoded.s === signature(sort) && decoded.v.length === sort.length && fits) return decoded.v;
  } catch {
    // Falls through to the one message: the details do not help a client.
  }
  throw foreignCursor();
}

/** The refusal of a cursor that this list did not issue. */
export const foreignCursor = (): Problem => invalid('cursor', 'does not belong to this list and order; start again without it');

/** Makes a page of `limit + 1` fetched items: the last one only shows that there are more. The page ends after `most` items. */
export function page<T, R>(
  request: KeysetRequest,
  fetched: readonly R[],
  present: (row: R, at: number) => T,
  sortValues: (row: R) => readonly KeyValue[],
  most = request.limit,
): Page<T> {
  const rows = fetched.slice(0, most);
  const last = rows.at(-1);
  const more = fetched.length > most && last !== undefined;
  const next = more
    ? Buffer.from(JSON.stringify({ s: signature(request.sort), v: sortValues(last) })).toString('base64url')
    : null;
  return {
    data: rows.map((row, at) => present(row, at)),
    pagination: { limit: request.limit, next_cursor: next, has_more: more },
  };
}

/** A list of rows R that are shown as T. */
export interface List<R, F extends string, T> {
  readonly keyset: Keyset<R, F>;
  readonly columns: string;
  readonly from: string;
  readonly where: (params: Parameters) => readonly string[];
  readonly present: (row: R) => T;
}

/** The rows of one statement of `allOf`. */
const ROWS_AT_ONCE = 1_000;

/**
 * Returns all that a query matches, in pieces: one statement per 1,000 rows, each run after the reader has taken the previous
 * rows. Limit and cursor of the query are ignored. Throws `validation_failed` for a sort that this list does not have.
 */
export function allOf<R, F extends string, T>(
  sql: Sql,
  { sort }: { sort?: string | undefined },
  list: List<R, F, T>,
): AsyncGenerator<readonly T[]> {
  return pieces(sql, pageRequest({ limit: ROWS_AT_ONCE, sort }, list.keyset.order), list);
}

async function* pieces<R, F extends string, T>(
  sql: Sql,
  request: KeysetRequest<F>,
  list: List<R, F, T>,
): AsyncGenerator<readonly T[]> {
  for (let { after } = request, isMore = true; isMore;) {
    const statement = selectPage(list.keyset, { ...request, after }, list);
    const rows = (await sql.query<R>(statement.sql, statement.params)).slice(0, request.limit);
    const last = rows.at(-1);
    isMore = rows.length === request.limit;
    if (!last) return;
    after = list.keyset.valuesOf(request, last);
    yield rows.map(list.present);
  }
}

/** Returns the requested page. One statement. Throws `validation_failed` for a sort or a cursor that is not of this list. */
export async function listPage<R, F extends string, T>(
  sql: Sql,
  query: { limit: number; cursor?: string | undefined; sort?: string | undefined },
  list: List<R, F, T>,
): Promise<Page<T>> {
  const request = pageRequest(query, list.keyset.order);
  const statement = selectPage(list.keyset, request, list);
  const rows = await sql.query<R>(statement.sql, statement.params);
  return page(request, rows, list.present, (row) => list.keyset.valuesOf(request, row));
}
