import { type KeysetRequest, Parameters, type Statement } from '../../store/postgres/keyset.ts';
import type { Viewer } from '../model/access/viewer.ts';
import { LISTED_COLUMNS, type ListedRow, type Stamp, stampColumns } from '../model/files/files.sql.ts';
import { seenFrom } from '../model/folders/folders.sql.ts';
import { namePattern } from '../model/names/names.sql.ts';
import { AROUND, FILES, type FileSort, GUEST, GUESTS, type PageRow } from './file-list.sql.ts';

/** The files of each way that are read to find a name, before a statement that uses the index of names is planned. */
export const NEWEST_MAX = 1_000;

/** The ways in which somebody sees files: theirs, those granted to them, those of others below folders that they see. */
interface Ways {
  readonly own: string;
  readonly granted?: string;
  readonly below: string;
}

/**
 * Returns the newest 1,000 files of each way, of which `columns` of `f` are read, those in the trash too. They want `guests`, the
 * owners of files in the folders that `me` sees. They use no index of names, so that one plan fits all names and people: it is
 * prepared, since to plan a search takes longer than this.
 */
export const newestFiles = (me: string, granted: string | undefined, columns: string): Ways => ({
  own: `SELECT ${columns} FROM files f WHERE f.owner_id = ${me} ORDER BY f.updated_at DESC, f.id DESC LIMIT ${NEWEST_MAX}`,
  ...(granted && {
    granted: `SELECT ${columns} FROM files f WHERE f.uuid = ANY (${granted}) AND f.owner_id <> ${me} LIMIT ${NEWEST_MAX}`,
  }),
  below: `SELECT f.* FROM guests CROSS JOIN LATERAL (
      SELECT ${columns} FROM files f WHERE ${GUEST} BETWEEN ${PAIR} AND ${PAIR}${granted ? ` AND f.uuid <> ALL (${granted})` : ''}
      ORDER BY ${GUEST} DESC, f.updated_at DESC, f.id DESC LIMIT ${NEWEST_MAX}
    ) f WHERE guests.owner_id NOT IN (0, ${me}) LIMIT ${NEWEST_MAX}`,
});

const PAIR = 'ARRAY[guests.folder_id, guests.owner_id]';

/**
 * Returns a parameter whose value the planner does not see: it would plan again for each person who has more files than most.
 */
export const hidden = (value: number, params: Parameters): string => `(SELECT ${params.add(value)}::bigint)`;

/** A row of `namedAmongNewest`; `id` null: there is no file, only `isWhole`. */
export type NewestRow<Row extends Stamp = ListedRow> = PageRow<Row> & { readonly isWhole: boolean };

/**
 * Returns the statement of the first page of files with this part of a name, the last changed first. `isWhole` false: files that
 * were not read may belong to the page. `read`: all columns, or those of a Stamp and of the order.
 */
export function namedAmongNewest(
  viewer: Viewer,
  q: string,
  request: KeysetRequest<FileSort>,
  read: 'all' | 'stamps',
): Statement & { readonly name: string } {
  const params = new Parameters();
  const me = hidden(viewer.userId, params);
  const isGranted = viewer.files.length + viewer.folders.length > 0;
  const [files, folders] = isGranted ? [viewer.files, viewer.folders].map((uuids) => `${params.add(uuids)}::uuid[]`) : [];
  const { names, columns } = read === 'all' ? LISTED_COLUMNS : stampColumns(request.sort);
  const { own, ...others } = newestFiles(me, files, `${names}, f.name_search`);
  const order = FILES.orderBy(request);
  const limit = params.add(request.limit + 1);
  const named = (from: string): string => `SELECT ${names} FROM ${from} f
      WHERE f.deleted_at IS NULL AND f.name_search LIKE (SELECT w.pattern FROM word w) ORDER BY ${order} LIMIT ${limit}`;
  const ways = Object.entries(others);
  // Of their own files a page is read at most, in order. How many there are is counted only where that is not a page.
  const isRead = [
    `((SELECT count(*) = ${limit} FROM own) OR (SELECT count(*) < ${NEWEST_MAX} FROM (${newestFiles(me, files, 'f.id').own}) f))`,
    ...ways.map(([name]) => `(SELECT count(*) < ${NEWEST_MAX} FROM ${name})`),
  ].join(' AND ');
  const sql = `
    WITH RECURSIVE seen AS MATERIALIZED (
      SELECT DISTINCT b.id FROM folders r JOIN folders b ON b.ancestry <@ r.ancestry WHERE ${seenFrom(me, folders)}
    ), ${GUESTS}, ${ways.map(([name, way]) => `${name} AS MATERIALIZED (${way})`).join(', ')},
    word AS MATERIALIZED (SELECT ${namePattern(params.add(q))} AS pattern),
    own AS MATERIALIZED (${named(`(${own})`)}),
    picked AS MATERIALIZED (
      SELECT * FROM (${['TABLE own', ...ways.map(([name]) => `(${named(name)})`)].join(' UNION ALL ')}) f
      ORDER BY ${order} LIMIT ${limit}
    )
    SELECT ${columns}, ${AROUND} AS around, w."isWhole"
    FROM (SELECT ${isRead} AS "isWhole") w LEFT JOIN picked f ON true ORDER BY ${order}`;
  return { sql, params: params.values, name: `content-files-named-${isGranted ? 'granted' : 'own'}-${read}` };
}
