import {
  type KeysetRequest,
  keyset,
  integerKey,
  nameKey,
  Parameters,
  type Statement,
  timeKey,
  type Within,
} from '../../store/postgres/keyset.ts';
import { LISTED_COLUMNS, type ListedRow, type Stamp, stampColumns } from '../model/files/files.sql.ts';
import { foldedName, nameContains } from '../model/names/names.sql.ts';
import { FOLDER_COLUMNS, FOLDER_JOINS, type FolderRecord, seenFrom } from '../model/folders/folders.sql.ts';
import { CHILD_SORT_FIELDS, FOLDER_SORT_FIELDS, type FolderQuery } from '../model/folders/folders.schema.ts';

type FolderSort = (typeof FOLDER_SORT_FIELDS)[number] | 'id';
export type ChildSort = (typeof CHILD_SORT_FIELDS)[number] | 'id';
type Request = KeysetRequest<ChildSort>;
type Folder = Pick<FolderRecord, 'id' | 'name' | 'createdAt' | 'updatedAt'>;
type Sorted = Folder | Pick<ListedRow, 'id' | 'name' | 'size' | 'createdAt' | 'updatedAt'>;

const keysOf = (alias: 'd' | 'f') => ({
  name: nameKey<Sorted>(`${alias}.name`, ({ name }) => name),
  created_at: timeKey<Sorted>(`${alias}.created_at`, ({ createdAt }) => createdAt),
  updated_at: timeKey<Sorted>(`${alias}.updated_at`, ({ updatedAt }) => updatedAt),
  id: integerKey<Sorted>(`${alias}.id`, ({ id }) => id),
});
export const FOLDERS = keyset<Folder, FolderSort>({
  keys: keysOf('d'),
  fields: FOLDER_SORT_FIELDS,
  fallback: 'name',
  tieBreaker: 'id',
});

/** `size`: the SQL of the size, which no folder has. */
const childrenBy = (alias: 'd' | 'f', size: string) =>
  keyset<Sorted, ChildSort>({
    keys: { ...keysOf(alias), size: integerKey<Sorted>(size, (row) => ('size' in row ? row.size : 0)) },
    fields: CHILD_SORT_FIELDS,
    fallback: 'name',
    tieBreaker: 'id',
  });
export const CHILDREN = childrenBy('d', '0::bigint');
const FILES = childrenBy('f', 'f.size');

/**
 * The folders that a viewer sees: those of theirs, those granted to them, and all below either. `parent`: those in that folder,
 * which they see.
 */
export interface FolderViewer {
  readonly userId: number;
  readonly folders: readonly string[];
}

/**
 * Returns the one statement of a page of `GET /folders`, whose rows are FolderRecords. What is shown of each is read once the
 * page is chosen.
 */
export function folderList(
  viewer: FolderViewer,
  query: FolderQuery,
  parent: { readonly id: number } | null,
  request: KeysetRequest<FolderSort>,
): Statement {
  const params = new Parameters();
  const me = (): string => params.add(viewer.userId);
  const conditions = [`d.deleted_at IS ${query.trashed ? 'NOT ' : ''}NULL`, ...FOLDERS.after(request, params)];
  if (query.q !== undefined) conditions.push(nameContains(foldedName('d.name'), params.add(query.q)));
  if (query.owner !== undefined)
    conditions.push(`d.owner_id = (SELECT u.id FROM users u WHERE u.uuid = ${params.add(query.owner)})`);
  if (parent !== null) conditions.push(`d.parent_id = ${params.add(parent.id)}`);
  else if (query.parent_id === 'root') conditions.push(`d.owner_id = ${me()} AND d.parent_id IS NULL`);
  else
    conditions.push(
      `d.id IN (SELECT b.id FROM folders r JOIN folders b ON b.ancestry <@ r.ancestry
         WHERE ${seenFrom(me(), `${params.add(viewer.folders)}::uuid[]`)})`,
    );
  const order = FOLDERS.orderBy(request);
  const sql = `
    WITH picked AS MATERIALIZED (
      SELECT d.* FROM folders d WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${params.add(request.limit + 1)}
    )
    SELECT ${FOLDER_COLUMNS} FROM picked ${FOLDER_JOINS} ORDER BY ${order}`;
  return { sql, params: params.values };
}

/** The parent of a page of children: one folder, or a person's root. */
export type Location = { readonly folderId: number } | { readonly ownerId: number };

/** A file of a folder; `ownerUuid`: not with a Stamp. */
export type ChildFile<Row extends Stamp = ListedRow> = Row & { readonly ownerUuid: string; readonly ownerName: string };

const FOLDED = foldedName('d.name');

/** Returns the statement of the folders in a person's root, whose rows are FolderRecords, as CHILDREN sorts them. */
export function foldersInRoot(ownerId: number, q: string | undefined, request: Request): Statement {
  const params = new Parameters();
  const owner = { sql: 'd.owner_id', operand: `${params.add(ownerId)}::bigint` };
  const { orderBy, page } = childrenOf(
    CHILDREN,
    'd',
    owner,
    ['d.parent_id IS NULL', ...named(FOLDED, q, params)],
    request,
    params,
  );
  const sql = `
    WITH picked AS MATERIALIZED (${page('folders')})
    SELECT ${FOLDER_COLUMNS} FROM picked ${FOLDER_JOINS} ORDER BY ${orderBy}`;
  return { sql, params: params.values };
}

/**
 * Returns the same statement for a live folder, which comes first itself; `request` null: it alone. No row: there is no such
 * folder.
 */
export function folderAndFolders(uuid: string, q: string | undefined, request: Request | null): Statement {
  const params = new Parameters();
  const target = params.add(uuid);
  const itself = (columns: string): string =>
    `SELECT ${columns} FROM folders t WHERE t.uuid = ${target} AND t.deleted_at IS NULL`;
  const parent = { sql: 'd.parent_id', operand: `(${itself('t.id')})` };
  const children =
    request && childrenOf(CHILDREN, 'd', parent, ['d.parent_id IS NOT NULL', ...named(FOLDED, q, params)], request, params);
  const sql = `
    WITH picked AS MATERIALIZED (${itself('t.*')}${children ? ` UNION ALL (${children.page('folders')})` : ''})
    SELECT ${FOLDER_COLUMNS} FROM picked ${FOLDER_JOINS} ORDER BY d.uuid <> ${target}${children ? `, ${children.orderBy}` : ''}`;
  return { sql, params: params.values };
}

/** Returns the statement of the files in a location. `read`: all columns, or those of a Stamp and of the order. */
export function filesIn(location: Location, q: string | undefined, request: Request, read: 'all' | 'stamps' = 'all'): Statement {
  const params = new Parameters();
  const [column, value, isThere] =
    'ownerId' in location
      ? ['f.owner_id', location.ownerId, 'f.folder_id IS NULL']
      : ['f.folder_id', location.folderId, 'f.folder_id IS NOT NULL'];
  const of = { sql: column, operand: `${params.add(value)}::bigint` };
  const { orderBy, page } = childrenOf(FILES, 'f', of, [isThere, ...named('f.name_search', q, params)], request, params);
  const { columns } = read === 'all' ? LISTED_COLUMNS : stampColumns(request.sort);
  const sql = `
    SELECT ${columns}, ${read === 'all' ? 'o.uuid AS "ownerUuid", ' : ''}coalesce(o.display_name, o.username) AS "ownerName"
    FROM (${page('files')}) f JOIN users o ON o.id = f.owner_id
    ORDER BY ${orderBy}`;
  return { sql, params: params.values };
}

const named = (folded: string, q: string | undefined, params: Parameters): string[] =>
  q === undefined ? [] : [nameContains(folded, params.add(q))];

/** Lists children by the index of live names in their order, so that a page costs the same wherever it begins. */
function childrenOf(
  list: typeof CHILDREN,
  alias: 'd' | 'f',
  of: Within,
  conditions: readonly string[],
  request: Request,
  params: Parameters,
): { orderBy: string; page: (table: 'folders' | 'files') => string } {
  const { orderBy, where } = list.within(of, request, params);
  const all = [...where, `${alias}.deleted_at IS NULL`, ...conditions].join(' AND ');
  const limit = params.add(request.limit + 1);
  return { orderBy, page: (table) => `SELECT ${alias}.* FROM ${table} ${alias} WHERE ${all} ORDER BY ${orderBy} LIMIT ${limit}` };
}
