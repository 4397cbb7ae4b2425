import type { PageRequest } from '../../api/paging.ts';
import { ancestorsOf, FILE_COLUMNS, FILE_JOINS, type FileRow } from './file.record.ts';
import type { FILE_SORT_FIELDS, FileQuery } from './files.schema.ts';

export type FileSort = (typeof FILE_SORT_FIELDS)[number] | 'id';

/** Whose list it is: what the user owns, and what is granted to them at the level that the list wants. */
export interface Viewer {
  readonly userId: number;
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** The folders that are granted to them at any level: those that they may know of. */
  readonly known: readonly string[];
}

const COLUMN = { name: 'f.name', size: 'f.size', created_at: 'f.created_at', updated_at: 'f.updated_at', id: 'f.id' } as const;
const TYPE = { name: 'text', size: 'bigint', created_at: 'timestamptz', updated_at: 'timestamptz', id: 'bigint' } as const;

export const sortValueOf = (row: FileRow, field: FileSort): string | number =>
  field === 'created_at' ? row.createdAt.toISOString() : field === 'updated_at' ? row.updatedAt.toISOString() : row[field];

/** A place in one of the statement's parameters. */
class Parameters {
  readonly values: unknown[] = [];
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/**
 * The one statement of a page of files that `viewer` may see: their own, those granted to them, and those below folders that are theirs or granted.
 *
 * Each of the three ways is read by itself in the wanted order and at most a page long, so that an index gives it however many files there are.
 * With `folder_id`, a folder that the viewer may not know of gives no row at all (`not_found`), whatever of theirs lies in it; one that is open gives
 * at least one, perhaps empty.
 */
export function fileList(viewer: Viewer, query: FileQuery, request: PageRequest<FileSort>): { sql: string; params: readonly unknown[] } {
  const params = new Parameters();
  const me = params.add(viewer.userId);
  const folders = `${params.add(viewer.folders)}::uuid[]`;
  const where = [...filters(query, params), ...keyset(request, params)].join(' AND ');
  const order = request.sort.map(({ field, descending }) => `${COLUMN[field]} ${descending ? 'DESC' : 'ASC'}`).join(', ');
  const end = `ORDER BY ${order} LIMIT ${params.add(request.limit + 1)}`;
  const columns = `f.id, f.name, f.size, f.created_at, f.updated_at`;

  const files = `${params.add(viewer.files)}::uuid[]`;

  if (query.folder_id !== undefined && query.folder_id !== 'root') {
    const under = (granted: string): string => `EXISTS (
      SELECT FROM folders a WHERE a.id = ANY (string_to_array(ltree2text(t.ancestry), '.')::bigint[]) AND (a.owner_id = ${me} OR a.uuid = ANY (${granted})))`;
    const sql = `
      WITH target AS (
        SELECT t.id, ${ancestorsOf('t')} AS ancestors, ${under(folders)} AS open FROM folders t
        WHERE t.uuid = ${params.add(query.folder_id)} AND t.deleted_at IS NULL AND ${under(`${params.add(viewer.known)}::uuid[]`)}
      ), picked AS (
        SELECT ${columns} FROM target t JOIN files f ON f.folder_id = t.id
        WHERE (t.open OR f.owner_id = ${me} OR f.uuid = ANY (${files})) AND ${where} ${end}
      )
      SELECT ${FILE_COLUMNS}, t.ancestors FROM target t LEFT JOIN picked p ON true LEFT JOIN files f ON f.id = p.id ${FILE_JOINS}
      ORDER BY ${order}`;
    return { sql, params: params.values };
  }
  const sql = `
    WITH roots AS (SELECT ancestry FROM folders WHERE owner_id = ${me} OR uuid = ANY (${folders})),
    own AS (SELECT ${columns} FROM files f WHERE f.owner_id = ${me} AND ${where} ${end}),
    granted AS (SELECT ${columns} FROM files f WHERE f.uuid = ANY (${files}) AND f.owner_id <> ${me} AND ${where} ${end}),
    below AS (
      SELECT ${columns} FROM files f
      WHERE f.folder_id IN (SELECT b.id FROM roots r JOIN folders b ON b.ancestry <@ r.ancestry)
        AND (f.owner_id < ${me} OR f.owner_id > ${me}) AND f.uuid <> ALL (${files}) AND ${where} ${end}
    ),
    picked AS (SELECT f.id FROM (TABLE own UNION ALL TABLE granted UNION ALL TABLE below) f ${end})
    SELECT ${FILE_COLUMNS}, ${ancestorsOf('d')} AS ancestors FROM picked p JOIN files f ON f.id = p.id ${FILE_JOINS} ORDER BY ${order}`;
  return { sql, params: params.values };
}

function filters(query: FileQuery, params: Parameters): string[] {
  const conditions = [query.trashed ? 'f.deleted_at IS NOT NULL' : 'f.deleted_at IS NULL'];
  if (query.folder_id === 'root') conditions.push('f.folder_id IS NULL');
  if (query.q !== undefined) conditions.push(`f.name_search LIKE ${containing(`carrel.fold(${params.add(query.q)})`)}`);
  if (query.mime_type?.endsWith('/*')) conditions.push(`starts_with(f.mime_type, ${params.add(query.mime_type.slice(0, -1))})`);
  else if (query.mime_type !== undefined) conditions.push(`f.mime_type = ${params.add(query.mime_type)}`);
  if (query.owner !== undefined) conditions.push(`f.owner_id = (SELECT u.id FROM users u WHERE u.uuid = ${params.add(query.owner)})`);
  return conditions;
}

/** Rows after the last one of the page before; in one direction throughout it is a row comparison, which an index serves. */
function keyset({ sort, after }: PageRequest<FileSort>, params: Parameters): string[] {
  if (!after) return [];
  const places = sort.map(({ field }, at) => `${params.add(after[at])}::${TYPE[field]}`);
  if (sort.every(({ descending }) => descending === sort[0]?.descending)) {
    return [`(${sort.map(({ field }) => COLUMN[field]).join(', ')}) ${sort[0]?.descending ? '<' : '>'} (${places.join(', ')})`];
  }
  const steps = sort.map(({ field, descending }, at) => {
    const same = sort.slice(0, at).map((key, before) => `${COLUMN[key.field]} = ${places[before]}`);
    return `(${[...same, `${COLUMN[field]} ${descending ? '<' : '>'} ${places[at]}`].join(' AND ')})`;
  });
  return [`(${steps.join(' OR ')})`];
}

/** A pattern of what holds this text. Escaped once it is folded: folding makes wildcards of their forms of full width (％, ＿). */
const containing = (text: string): string => String.raw`'%' || regexp_replace(${text}, '[\\%_]', '\\\&', 'g') || '%'`;
