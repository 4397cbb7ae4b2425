import { integerKey, keyset, type KeysetRequest, Parameters, type Statement, textKey, timeKey } from '../../store/postgres/keyset.ts';
import { ancestorsOf, FILE_COLUMNS, FILE_JOINS, type FileRow } from './files.sql.ts';
import { FILE_SORT_FIELDS, type FileQuery } from './files.schema.ts';

/** The viewer of the list: what they own, and their grants of the level that the list requires. */
export interface Viewer {
  readonly userId: number;
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** The folders that are granted to them at any level: those that they may know of. */
  readonly known: readonly string[];
}

type FileSort = (typeof FILE_SORT_FIELDS)[number] | 'id';

/** The internal id, the tie-breaker, is no field that a query can name. */
export const FILES = keyset<FileRow, FileSort>({
  keys: {
    name: textKey('f.name', ({ name }) => name),
    size: integerKey('f.size', ({ size }) => size),
    created_at: timeKey('f.created_at', ({ createdAt }) => createdAt),
    updated_at: timeKey('f.updated_at', ({ updatedAt }) => updatedAt),
    id: integerKey('f.id', ({ id }) => id),
  },
  fields: FILE_SORT_FIELDS,
  fallback: '-updated_at',
  tieBreaker: 'id',
});

/**
 * The one statement of a page of files that `viewer` may see: their own, those granted to them, and those below folders that are theirs or granted.
 *
 * Each of the three ways is read by itself in the wanted order and at most a page long, so that an index gives it however many files there are.
 * With `folder_id`, a folder that the viewer may not see gives no row (`not_found`), even if it has files of theirs; one that is open gives
 * at least one, perhaps empty.
 */
export function fileList(viewer: Viewer, query: FileQuery, request: KeysetRequest<FileSort>): Statement {
  const params = new Parameters();
  const me = params.add(viewer.userId);
  const folders = `${params.add(viewer.folders)}::uuid[]`;
  const where = [...filters(query, params), ...FILES.after(request, params)].join(' AND ');
  const order = FILES.orderBy(request);
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

/** A LIKE pattern for texts with this part. Folds before it escapes: folding turns the full-width forms of wildcards (％, ＿) into wildcards. */
const containing = (text: string): string => String.raw`'%' || regexp_replace(${text}, '[\\%_]', '\\\&', 'g') || '%'`;
