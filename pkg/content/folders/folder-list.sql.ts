import { type KeysetRequest, keyset, integerKey, nameKey, Parameters, type Statement, timeKey } from '../../store/postgres/keyset.ts';
import { LISTED_COLUMNS, type ListedRow } from '../files/files.sql.ts';
import { nameContains } from '../names/names.sql.ts';
import { FOLDER_COLUMNS, FOLDER_JOINS, type FolderRecord, seenFrom } from './folders.sql.ts';
import { FOLDER_SORT_FIELDS, type FolderQuery } from './folders.schema.ts';

export type FolderSort = (typeof FOLDER_SORT_FIELDS)[number] | 'id';
type Request = KeysetRequest<FolderSort>;
type Sorted = Pick<FolderRecord, 'id' | 'name' | 'createdAt' | 'updatedAt'>;

const sortedBy = (alias: string) =>
  keyset<Sorted, FolderSort>({
    keys: {
      name: nameKey(`${alias}.name`, ({ name }) => name),
      created_at: timeKey(`${alias}.created_at`, ({ createdAt }) => createdAt),
      updated_at: timeKey(`${alias}.updated_at`, ({ updatedAt }) => updatedAt),
      id: integerKey(`${alias}.id`, ({ id }) => id),
    },
    fields: FOLDER_SORT_FIELDS,
    fallback: 'name',
    tieBreaker: 'id',
  });

export const FOLDERS = sortedBy('d');
const FILES = sortedBy('f');

/** The folders that a viewer sees: those of theirs, those granted to them, and all below either. `parent`: those in that folder, which they see. */
export interface FolderViewer {
  readonly userId: number;
  readonly folders: readonly string[];
}

/** The one statement of a page of `GET /folders`, whose rows are FolderRecords. What is shown of each is read once the page is chosen. */
export function folderList(viewer: FolderViewer, query: FolderQuery, parent: { readonly id: number } | null, request: Request): Statement {
  const params = new Parameters();
  const me = (): string => params.add(viewer.userId);
  const conditions = [`d.deleted_at IS ${query.trashed ? 'NOT ' : ''}NULL`, ...FOLDERS.after(request, params)];
  if (query.q !== undefined) conditions.push(nameContains('carrel.fold(d.name)', params.add(query.q)));
  if (query.owner !== undefined) conditions.push(`d.owner_id = (SELECT u.id FROM users u WHERE u.uuid = ${params.add(query.owner)})`);
  if (parent !== null) conditions.push(`d.parent_id = ${params.add(parent.id)}`);
  else if (query.parent_id === 'root') conditions.push(`d.owner_id = ${me()} AND d.parent_id IS NULL`);
  else
    conditions.push(
      `d.id IN (SELECT b.id FROM folders r JOIN folders b ON b.ancestry <@ r.ancestry WHERE ${seenFrom(me(), `${params.add(viewer.folders)}::uuid[]`)})`,
    );
  const order = FOLDERS.orderBy(request);
  const sql = `
    WITH picked AS MATERIALIZED (
      SELECT d.* FROM folders d WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${params.add(request.limit + 1)}
    )
    SELECT ${FOLDER_COLUMNS} FROM picked ${FOLDER_JOINS} ORDER BY ${order}`;
  return { sql, params: params.values };
}

/** What a page of children is of: one folder (its internal id), or a person's root. */
export type Location = { readonly folderId: number } | { readonly ownerId: number };

export type ChildFile = ListedRow & { readonly ownerUuid: string; readonly ownerName: string };

/** The statement of the folders in a location, whose rows are FolderRecords, as FOLDERS sorts them. */
export function foldersIn(location: Location, q: string | undefined, request: Request): Statement {
  const params = new Parameters();
  const { orderBy, where } = childrenOf(
    FOLDERS,
    { alias: 'd', parent: 'parent_id', folded: 'carrel.fold(d.name)' },
    location,
    q,
    request,
    params,
  );
  const sql = `
    WITH picked AS MATERIALIZED (
      SELECT d.* FROM folders d WHERE ${where} ORDER BY ${orderBy} LIMIT ${params.add(request.limit + 1)}
    )
    SELECT ${FOLDER_COLUMNS} FROM picked ${FOLDER_JOINS} ORDER BY ${orderBy}`;
  return { sql, params: params.values };
}

/** The statement of the files in a location. */
export function filesIn(location: Location, q: string | undefined, request: Request): Statement {
  const params = new Parameters();
  const { orderBy, where } = childrenOf(FILES, { alias: 'f', parent: 'folder_id', folded: 'f.name_search' }, location, q, request, params);
  const sql = `
    SELECT ${LISTED_COLUMNS}, o.uuid AS "ownerUuid", coalesce(o.display_name, o.username) AS "ownerName"
    FROM (SELECT f.* FROM files f WHERE ${where} ORDER BY ${orderBy} LIMIT ${params.add(request.limit + 1)}) f JOIN users o ON o.id = f.owner_id
    ORDER BY ${orderBy}`;
  return { sql, params: params.values };
}

/** By the index of live names in their order (migration 0081), so that a page costs the same wherever it begins. */
function childrenOf(
  list: typeof FOLDERS,
  of: { readonly alias: string; readonly parent: string; readonly folded: string },
  location: Location,
  q: string | undefined,
  request: Request,
  params: Parameters,
): { orderBy: string; where: string } {
  const isRoot = 'ownerId' in location;
  const column = {
    sql: `${of.alias}.${isRoot ? 'owner_id' : of.parent}`,
    operand: `${params.add(isRoot ? location.ownerId : location.folderId)}::bigint`,
  };
  const { orderBy, where } = list.within(column, request, params);
  const conditions = [
    ...where,
    `${of.alias}.deleted_at IS NULL`,
    `${of.alias}.${of.parent} IS ${isRoot ? '' : 'NOT '}NULL`,
    ...(q === undefined ? [] : [nameContains(of.folded, params.add(q))]),
  ];
  return { orderBy, where: conditions.join(' AND ') };
}
