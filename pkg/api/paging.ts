import { z } from 'zod';
import { invalid, type Problem } from './problem.ts';
import { queryInteger } from './schemas.ts';

/** Lists (design: Lists): keyset paging, at most 200 a page, an opaque cursor that holds the place after the last item. */
export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 200;

export interface SortKey<F extends string = string> {
  readonly field: F;
  readonly descending: boolean;
}

export interface PageRequest<F extends string = string> {
  readonly limit: number;
  /** Never empty; the last key is unique, so that the order is total. */
  readonly sort: readonly SortKey<F>[];
  /** The sort values of the last item of the page before; undefined on the first page. */
  readonly after: readonly (string | number | null)[] | undefined;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly pagination: { readonly limit: number; readonly next_cursor: string | null; readonly has_more: boolean };
}

const CURSOR_MAX = 2_000;
/** More keys than these order nothing that anybody reads; it keeps the pattern of `sort` short. */
const SORT_KEYS_MAX = 3;

/** The query parameters of a list that is sorted by these fields; spread into the list's own query schema. */
export const pageQueryOf = (fields: readonly string[]) => ({
  limit: queryInteger(1, PAGE_LIMIT_MAX)
    .default(PAGE_LIMIT_DEFAULT)
    .meta({
      'x-openapi': { type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT },
      description: 'items a page',
      example: 20,
    }),
  cursor: z
    .string()
    .max(CURSOR_MAX)
    .regex(/^[A-Za-z0-9_-]+$/, 'does not belong to this list and order; start again without it')
    .optional()
    .meta({ description: '`next_cursor` of the page before, beside the same parameters' }),
  sort: z
    .string()
    .regex(new RegExp(`^${sortPattern(fields, SORT_KEYS_MAX)}$`), sortWords(fields))
    .optional()
    .meta({ description: `fields by which the list is sorted, each with - in front to turn it round`, example: `-${fields[0]}` }),
});

const sortWords = (fields: readonly string[]): string =>
  `takes up to ${SORT_KEYS_MAX} of ${fields.join(', ')}, comma-separated and each once, with - in front to turn one round`;

/** One to `keys` of the fields, comma-separated, no field twice: spelt out, since portable patterns look neither ahead nor back. */
function sortPattern(fields: readonly string[], keys: number): string {
  const rest = (field: string): string =>
    fields.length > 1 && keys > 1
      ? `(,${sortPattern(
          fields.filter((other) => other !== field),
          keys - 1,
        )})?`
      : '';
  return fields.length === 1 ? `-?${fields[0]}` : `-?(${fields.map((field) => field + rest(field)).join('|')})`;
}

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
 * Reads limit, sort and cursor. `sort` is `field,-field`: only of `fields`, each once; the unique `tieBreaker` is added at the end.
 * A cursor belongs to the order it was made for; another, or one that was tampered with, is a 400.
 */
export function pageRequest<F extends string>(
  query: { limit: number; cursor?: string | undefined; sort?: string | undefined },
  order: { readonly fields: readonly F[]; readonly fallback: string; readonly tieBreaker: F },
): PageRequest<F> {
  const text = query.sort ?? order.fallback;
  const sort = text.split(',').map((part) => {
    const descending = part.startsWith('-');
    const field = (descending ? part.slice(1) : part) as F;
    if (!order.fields.includes(field)) throw invalid('sort', sortWords(order.fields));
    return { field, descending };
  });
  if (new Set(sort.map(({ field }) => field)).size < sort.length) throw invalid('sort', 'names a field twice');
  if (!sort.some(({ field }) => field === order.tieBreaker))
    sort.push({ field: order.tieBreaker, descending: sort[0]?.descending ?? false });
  return { limit: query.limit, sort, after: query.cursor === undefined ? undefined : decodeCursor(query.cursor, sort) };
}

const signature = (sort: readonly SortKey[]): string => sort.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join(',');

function decodeCursor(cursor: string, sort: readonly SortKey[]): readonly (string | number | null)[] {
  try {
    const decoded = Cursor.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    if (decoded.s === signature(sort) && decoded.v.length === sort.length) return decoded.v;
  } catch {
    // falls through to the one message: a client can do nothing with the details
  }
  throw foreignCursor();
}

/** A cursor that this list did not give. */
export const foreignCursor = (): Problem => invalid('cursor', 'does not belong to this list and order; start again without it');

/** Makes a page of `limit + 1` fetched items: the one too many tells that there is more. */
export function page<T, R>(
  request: PageRequest,
  fetched: readonly R[],
  present: (row: R) => T,
  sortValues: (row: R) => readonly (string | number | null)[],
): Page<T> {
  const rows = fetched.slice(0, request.limit);
  const last = rows.at(-1);
  const more = fetched.length > request.limit && last !== undefined;
  const next = more ? Buffer.from(JSON.stringify({ s: signature(request.sort), v: sortValues(last) })).toString('base64url') : null;
  return { data: rows.map(present), pagination: { limit: request.limit, next_cursor: next, has_more: more } };
}
