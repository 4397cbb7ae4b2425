import { PAGE_LIMIT_MAX } from '../../api/paging.ts';
import type { Executor } from '../../store/postgres/database.ts';
import {
  integerKey,
  keyset,
  type Keyset,
  type KeysetRequest,
  nameKey,
  Parameters,
  type Statement,
  timeKey,
} from '../../store/postgres/keyset.ts';
import { seenFrom } from '../model/folders/folders.sql.ts';
import { filesWith } from './metadata-filter.sql.ts';
import { nameContains } from '../model/names/names.sql.ts';
import { taggedFiles } from './tag-filter.sql.ts';
import { type FilteredList, filteredList } from './file-filter.sql.ts';
import {
  LISTED_COLUMNS,
  type ListedColumns,
  type ListedFile,
  listedFileOf,
  type ListedRow,
  type Surroundings,
  type Stamp,
  stampColumns,
} from '../model/files/files.sql.ts';
import type { Viewer } from '../model/access/viewer.ts';
import { FILE_SORT_FIELDS, type FileQuery } from './file-list.schema.ts';

export type FileSort = (typeof FILE_SORT_FIELDS)[number] | 'id';
type Request = KeysetRequest<FileSort>;

/** The internal id: the tie-breaker, and no field that a query can name. */
export const FILES = keyset<Pick<ListedRow, 'id' | 'name' | 'size' | 'createdAt' | 'updatedAt'>, FileSort>({
  keys: {
    name: nameKey('f.name', ({ name }) => name),
    size: integerKey('f.size', ({ size }) => size),
    created_at: timeKey('f.created_at', ({ createdAt }) => createdAt),
    updated_at: timeKey('f.updated_at', ({ updatedAt }) => updatedAt),
    id: integerKey('f.id', ({ id }) => id),
  },
  fields: FILE_SORT_FIELDS,
  fallback: '-updated_at',
  tieBreaker: 'id',
});

/** A row of a page. Only one row of the page has `around`. */
export type PageRow<Row extends Stamp = ListedRow> = Row & { readonly around: Around | null };

/** The owners of a page's files, and their folders with all above them, each once. Null: none. */
interface Around {
  readonly owners: readonly (readonly [id: number, uuid: string, name: string])[] | null;
  /** `ancestry`: the ids of the folders from the root down to this one, with dots between. */
  readonly folders: readonly (readonly [id: number, uuid: string, name: string, ownerId: number, ancestry: string])[] | null;
}

/** The column `around`; wants `picked`. */
export const AROUND = `CASE WHEN row_number() OVER () = 1 THEN json_build_object(
    'owners', (SELECT json_agg(json_build_array(o.id, o.uuid, coalesce(o.display_name, o.username)))
      FROM users o WHERE o.id IN (SELECT p.owner_id FROM picked p)),
    'folders', (SELECT json_agg(json_build_array(a.id, a.uuid, a.name, a.owner_id, ltree2text(a.ancestry)))
      FROM folders a WHERE a.id IN (SELECT unnest(string_to_array(ltree2text(d.ancestry), '.')::bigint[])
        FROM folders d WHERE d.id IN (SELECT p.folder_id FROM picked p)))) END`;

/** Returns the surroundings of each file of a page, in the order of the rows. */
export function surroundingsOf(rows: readonly PageRow<Stamp>[]): Surroundings[] {
  const { owners, folders } = rows.find(({ around }) => around !== null)?.around ?? {};
  const people = new Map(owners?.map(([id, ownerUuid, ownerName]) => [id, { ownerUuid, ownerName }] as const));
  const above = new Map(folders?.map(([id, uuid, , ownerId]) => [id, { uuid, ownerId }] as const));
  const locations = new Map(
    folders?.map(([id, uuid, name, , ancestry]) => {
      const ancestors = ancestry.split('.').flatMap((each) => above.get(Number(each)) ?? []);
      return [id, { folder: { id, uuid, name }, ancestors }] as const;
    }),
  );
  return rows.map((row) => {
    const { ownerUuid, ownerName } = people.get(row.ownerId) as { ownerUuid: string; ownerName: string };
    const { folder, ancestors } = (row.folderId === null ? undefined : locations.get(row.folderId)) ?? IN_NONE;
    return { ownerUuid, ownerName, folder, ancestors };
  });
}

const IN_NONE = { folder: null, ancestors: [] };

/** Returns the files of a page's rows, in their order. */
export function filesOf(rows: readonly PageRow[]): ListedFile[] {
  const around = surroundingsOf(rows);
  return rows.map((row, at) => listedFileOf(row, around[at] as Surroundings));
}

const listed = (wanted: string, { names, columns }: ListedColumns): string => `
    WITH picked AS MATERIALIZED (SELECT ${names} FROM files f WHERE ${wanted})
    SELECT ${columns}, ${AROUND} AS around FROM picked f`;

const OF_UUIDS = listed('f.uuid = ANY ($1::uuid[])', LISTED_COLUMNS);
/** Their parameter is an array of ids. */
export const OF_IDS = {
  all: listed('f.id = ANY ($1::bigint[])', LISTED_COLUMNS),
  stamps: listed('f.id = ANY ($1::bigint[])', stampColumns([{ field: 'name' }])),
} as const;

/** Returns the rows of files by their ids, in no order, also those in the trash. One statement; none for no ids. */
export const listedRows = async <Row extends PageRow<Stamp>>(
  sql: Pick<Executor, 'prepared'>,
  ids: readonly number[],
  read: keyof typeof OF_IDS,
): Promise<Row[]> => (ids.length === 0 ? [] : sql.prepared<Row>(`content-files-listed-${read}`, OF_IDS[read], [ids]));

/** Returns files by their uuids, in no order, also those in the trash. One statement; none for no uuids. */
export const listedFiles = async (sql: Pick<Executor, 'prepared'>, uuids: readonly string[]): Promise<ListedFile[]> =>
  uuids.length === 0 ? [] : filesOf(await sql.prepared<PageRow>('content-files-listed', OF_UUIDS, [uuids]));

/** `name`: the name of a statement that is to be prepared. */
export interface PageStatement extends Statement {
  readonly name?: string;
}

/**
 * Returns the one statement of a page of files that `viewer` may see: their own, those granted to them, and those below folders
 * that are theirs or granted.
 *
 * Visibility is decided once per page: the folders below which the viewer sees everything are collected first, and a viewer
 * without grants gets no parts for grants. Each of the three sources is read separately, and at most a page of it. The viewer's
 * own files are read in the requested order, so that an index provides a page however many files there are. With `folder_id`, a
 * folder that the viewer may not see returns no row (`not_found`), even if it contains files of theirs; a visible one returns at
 * least one row, which may be empty. The usual order without filters is prepared, because planning takes longer than the page.
 *
 * `read`: all columns, or those of a Stamp and of the order.
 */
export function fileList(viewer: Viewer, query: FileQuery, request: Request, read: 'all' | 'stamps' = 'all'): PageStatement {
  const location = query.folder_id === undefined || query.folder_id === 'root' ? query.folder_id : 'folder';
  const params = new Parameters();
  const listed = read === 'all' ? LISTED_COLUMNS : stampColumns(request.sort);
  const build = location === 'folder' ? inFolder : inSight;
  const sql = build(viewer, query, request, listed, params);
  const [by, part] = [hasGrants(viewer) ? 'granted' : 'own', request.after ? 'next' : 'first'];
  const name = `content-files-${location ?? 'any'}-${by}-${part}-${read}`;
  return { sql, params: params.values, ...(isUsual(query) && { name }) };
}

/** Returns whether a list is in its usual order and without filters, as pages ask for it. */
export const isUsual = ({ sort, q, mime_type, owner, tag, metadata, trashed }: Omit<FileQuery, 'limit'>): boolean =>
  [sort, q, mime_type, owner, tag, metadata].every((value) => value === undefined) && !trashed;

const hasGrants = ({ files, folders, known }: Viewer): boolean => files.length + folders.length + known.length > 0;

/** The longest page and one more. A number, because the planner assumes a tenth of the rows for an unknown limit. */
const WAY_MAX = PAGE_LIMIT_MAX + 1;

/** The first column of the index of guests. */
export const GUEST = 'ARRAY[f.folder_id, f.owner_id]';

/**
 * The owners of files in the folders of `seen`. The query steps from one pair in the index of guests to the next, so that the
 * number of their files costs nothing.
 */
export const GUESTS = `guests (folder_id, owner_id) AS (
      SELECT seen.id, 0::bigint FROM seen
      UNION ALL
      SELECT g.folder_id, next.owner_id FROM guests g CROSS JOIN LATERAL (
        SELECT f.owner_id FROM files f WHERE ${GUEST} > ARRAY[g.folder_id, g.owner_id] AND ${GUEST} < ARRAY[g.folder_id + 1, 0]
        ORDER BY ${GUEST} LIMIT 1
      ) next
    )`;

function inSight(viewer: Viewer, query: FileQuery, request: Request, listed: ListedColumns, params: Parameters): string {
  const me = params.add(viewer.userId);
  const granted = hasGrants(viewer) ? { files: uuids(viewer.files, params), folders: uuids(viewer.folders, params) } : undefined;
  const { all, filtered } = filters(query, me, params);
  const order = FILES.orderBy(request);
  const read = { list: FILES, request, columns: listed.names, me, granted: granted?.files, conditions: all, filtered };
  const ways = waysToFiles(read, params);
  return `
    WITH RECURSIVE seen AS MATERIALIZED (
      SELECT DISTINCT b.id FROM folders r JOIN folders b ON b.ancestry <@ r.ancestry
      WHERE ${seenFrom(me, granted?.folders)}
    ), ${ways.expressions.join(', ')},
    picked AS MATERIALIZED (
      SELECT * FROM (${ways.files}) f ORDER BY ${order}
      LIMIT ${params.add(request.limit + 1)}
    )
    SELECT ${listed.columns}, ${AROUND} AS around FROM picked f ORDER BY ${order}`;
}

/** How the files that a viewer sees are read: in which order, and what of them. */
interface Read<F extends string> {
  /** The order of files `f`. */
  readonly list: Pick<Keyset<never, F>, 'orderBy' | 'after' | 'within'>;
  readonly request: KeysetRequest<F>;
  /** Columns of `f` by their own names, those of the order among them. */
  readonly columns: string;
  /** The parameters of the viewer, and of the files that are granted to them. */
  readonly me: string;
  readonly granted: string | undefined;
  readonly conditions: readonly string[];
  readonly filtered: FilteredList | undefined;
}

/**
 * Reads the files that a viewer sees in each of the ways of doing so, at most a page of each. `expressions` are common table
 * expressions that want `seen`, the folders below which the viewer sees everything; `files` are the rows of all ways, in no
 * order.
 */
export function waysToFiles<F extends string>(
  { list, request, columns, me, granted, conditions, filtered }: Read<F>,
  params: Parameters,
): { readonly expressions: readonly string[]; readonly files: string } {
  const filter = [...conditions, ...(filtered ? [`NOT ${filtered.isFew}`] : [])];
  const order = list.orderBy(request);
  const own = list.within({ sql: 'f.owner_id', operand: me }, request, params);
  const way = (where: readonly string[], orderBy = order): string =>
    `SELECT ${columns} FROM files f WHERE ${where.join(' AND ')} ORDER BY ${orderBy} LIMIT ${WAY_MAX}`;

  const isSeen = `(f.owner_id = ${me}${granted ? ` OR f.uuid = ANY (${granted})` : ''} OR f.folder_id IN (TABLE seen))`;
  const candidates = ({ isFew, candidates }: FilteredList): string =>
    `SELECT ${columns} FROM ${candidates} WHERE ${[isFew, isSeen, ...conditions, ...list.after(request, params)].join(' AND ')}
      ORDER BY ${order} LIMIT ${WAY_MAX}`;

  // Files of others, by folder and owner, each a page long and in the order of the index of guests.
  const guest = list.within({ sql: GUEST, operand: 'ARRAY[guests.folder_id, guests.owner_id]' }, request, params);
  const below = way([...guest.where, ...(granted ? [`f.uuid <> ALL (${granted})`] : []), ...filter], guest.orderBy);

  const ways = [
    ['own', way([...own.where, ...filter], own.orderBy)],
    ...(granted
      ? [['granted', way([`f.uuid = ANY (${granted})`, `f.owner_id <> ${me}`, ...filter, ...list.after(request, params)])]]
      : []),
    [
      'below',
      `SELECT f.* FROM guests CROSS JOIN LATERAL (${below}) f WHERE guests.owner_id NOT IN (0, ${me}) ORDER BY ${order}
       LIMIT ${WAY_MAX}`,
    ],
    ...(filtered ? [['candidate', candidates(filtered)]] : []),
  ] as const;
  return {
    expressions: [GUESTS, ...(filtered?.expressions ?? []), ...ways.map(([name, sql]) => `${name} AS (${sql})`)],
    files: ways.map(([name]) => `TABLE ${name}`).join(' UNION ALL '),
  };
}

function inFolder(viewer: Viewer, query: FileQuery, request: Request, listed: ListedColumns, params: Parameters): string {
  const me = params.add(viewer.userId);
  const granted = hasGrants(viewer)
    ? { files: uuids(viewer.files, params), folders: uuids(viewer.folders, params), known: uuids(viewer.known, params) }
    : undefined;
  const under = (folders: string | undefined): string => `EXISTS (
        SELECT FROM folders a WHERE a.id = ANY (string_to_array(ltree2text(t.ancestry), '.')::bigint[])
          AND (a.owner_id = ${me}${folders === undefined ? '' : ` OR a.uuid = ANY (${folders})`}))`;
  const within = FILES.within({ sql: 'f.folder_id', operand: '(SELECT t.id FROM target t)' }, request, params);
  const mine = `((SELECT t.open FROM target t) OR f.owner_id = ${me}${granted ? ` OR f.uuid = ANY (${granted.files})` : ''})`;
  const { all, filtered } = filters(query, me, params);
  const limit = params.add(request.limit + 1);
  const page = (from: string, conditions: readonly string[], orderBy: string): string =>
    `(SELECT ${listed.names} FROM ${from} WHERE ${[...conditions, mine, ...all].join(' AND ')} ORDER BY ${orderBy}
       LIMIT ${limit})`;
  const inOrder = page('files f', [...within.where, ...(filtered ? [`NOT ${filtered.isFew}`] : [])], within.orderBy);
  const candidates = ({ isFew, candidates }: FilteredList): string => {
    const inTarget = 'f.folder_id = (SELECT t.id FROM target t)';
    return page(candidates, [isFew, inTarget, ...FILES.after(request, params)], FILES.orderBy(request));
  };
  return `
    WITH target AS MATERIALIZED (
      SELECT t.id, ${under(granted?.folders)} AS open
      FROM folders t WHERE t.uuid = ${params.add(query.folder_id)} AND t.deleted_at IS NULL AND ${under(granted?.known)}
    ), ${(filtered?.expressions ?? []).map((expression) => `${expression}, `).join('')}picked AS MATERIALIZED (
      ${[inOrder, ...(filtered ? [candidates(filtered)] : [])].join(' UNION ALL ')}
    )
    SELECT ${listed.columns}, ${AROUND} AS around FROM target t LEFT JOIN picked f ON true ORDER BY ${FILES.orderBy(request)}`;
}

const uuids = (values: readonly string[], params: Parameters): string => `${params.add(values)}::uuid[]`;

/** Returns the condition that a file is of this media type, or with `type/*` of all of a type. */
export const mimeMatches = (type: string, params: Parameters): string =>
  type.endsWith('/*') ? `starts_with(f.mime_type, ${params.add(type.slice(0, -1))})` : `f.mime_type = ${params.add(type)}`;

/** Returns the conditions of a query, and how the list is read if it names tags or metadata. */
function filters(
  query: FileQuery,
  me: string,
  params: Parameters,
): { readonly all: readonly string[]; readonly filtered?: FilteredList } {
  const conditions = [query.trashed ? 'f.deleted_at IS NOT NULL' : 'f.deleted_at IS NULL'];
  if (query.folder_id === 'root') conditions.push('f.folder_id IS NULL');
  if (query.q !== undefined) conditions.push(nameContains('f.name_search', params.add(query.q)));
  if (query.mime_type !== undefined) conditions.push(mimeMatches(query.mime_type, params));
  if (query.owner !== undefined)
    conditions.push(`f.owner_id = (SELECT u.id FROM users u WHERE u.uuid = ${params.add(query.owner)})`);
  const named = [
    ...(query.tag ?? []).map((tag) => taggedFiles(tag, me, params)),
    ...Object.entries(query.metadata ?? {}).map(([key, value]) => filesWith(key, value, params)),
  ];
  const all = [...conditions, ...named.map(({ has }) => has)];
  return named.length === 0 ? { all } : { all, filtered: filteredList(named) };
}
