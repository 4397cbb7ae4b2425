import { integerKey, keyset, type KeysetRequest, Parameters, type Statement, timeKey } from '../../store/postgres/keyset.ts';
import { type FileFilter, filteredList } from '../lists/file-filter.sql.ts';
import { waysToFiles } from '../lists/file-list.sql.ts';
import { taggedFiles } from '../lists/tag-filter.sql.ts';
import { conditionsOf, conditionsOfFiles, conditionsOfFolders, isOfFiles, type Searcher, seenFolders } from './conditions.sql.ts';
import type { SearchQuery } from './search.schema.ts';

/** A result of a search without words. */
export interface FilteredRow {
  readonly changedAt: Date;
  /** Unique among files and folders: twice the id of the table, and one more for a folder. */
  readonly id: number;
}

type FilteredSort = 'changed' | 'id';
type Request = KeysetRequest<FilteredSort>;

const newest = (alias: string) =>
  keyset<FilteredRow, FilteredSort>({
    keys: {
      changed: timeKey(`${alias}.updated_at`, ({ changedAt }) => changedAt),
      id: integerKey(`${alias}.id`, ({ id }) => id),
    },
    fields: ['id'],
    fallback: '-changed',
    tieBreaker: 'id',
  });

/** The last changed first; or by `id`, which is the order of creation and stays as it is while things change. */
export const FILTERED = newest('r');
const FILES = newest('f');
const FOLDERS = newest('d');

const KINDS = { file: 0, folder: 1 } as const;

/**
 * Returns the one statement of a page of a search without words. Files are read as a list of files reads them: each of the ways
 * in which the searcher sees files in the order of the page, or the few that have the tag or are in the folder. The folders that
 * the searcher sees are read and sorted.
 */
export function filteredPage(searcher: Searcher, query: SearchQuery, request: Request): Statement {
  const params = new Parameters();
  const me = params.add(searcher.userId);
  const seen = seenFolders(searcher, me, query, params);
  const files = query.type === 'folder' ? undefined : filesFound(searcher, me, query, rowsOf('file', request), params);
  const parts = [
    ...(files ? [files.rows] : []),
    ...(isOfFiles(query) ? [] : [foldersFound(query, rowsOf('folder', request), params)]),
  ];
  const sql = `
    WITH RECURSIVE ${[seen, ...(files?.expressions ?? [])].join(', ')}
    SELECT r.id, r.updated_at AS "changedAt" FROM (${parts.length === 0 ? NOTHING : parts.join(' UNION ALL ')}) r
    ORDER BY ${FILTERED.orderBy(request)} LIMIT ${params.add(request.limit + 1)}`;
  return { sql, params: params.values };
}

/** The rows of a search for folders by a property that only files have. */
const NOTHING = `SELECT 0::bigint AS id, now() AS updated_at WHERE false`;

/** Returns the request for the rows of one table: those whose ids come after the one in the cursor. */
function rowsOf(kind: keyof typeof KINDS, request: Request): Request {
  if (!request.after) return request;
  const id = (Number(request.after.at(-1)) - KINDS[kind]) / 2;
  const bound = request.sort.at(-1)?.descending ? Math.ceil(id) : Math.floor(id);
  return { ...request, after: [...request.after.slice(0, -1), bound] };
}

function filesFound(
  { files }: Searcher,
  me: string,
  query: SearchQuery,
  request: Request,
  params: Parameters,
): { readonly expressions: readonly string[]; readonly rows: string } {
  const granted = files.length === 0 ? undefined : `${params.add(files)}::uuid[]`;
  const filters: FileFilter[] = [
    ...(query.tag === undefined ? [] : [taggedFiles(query.tag, me, params)]),
    ...(query.folder_id === undefined ? [] : [IN_SEEN]),
  ];
  const conditions = [...conditionsOf('f', query, params), ...conditionsOfFiles(query, params), ...filters.map(({ has }) => has)];
  const filtered = filters.length === 0 ? undefined : filteredList(filters);
  const ways = waysToFiles({ list: FILES, request, columns: 'f.id, f.updated_at', me, granted, conditions, filtered }, params);
  return {
    expressions: ways.expressions,
    rows: `SELECT f.id * 2 + ${KINDS.file} AS id, f.updated_at FROM (${ways.files}) f`,
  };
}

/** The files in the folders of the search. OFFSET 0: each folder's by its index, whatever the planner takes their number for. */
const IN_SEEN: FileFilter = {
  files: `SELECT f.id AS file_id FROM seen
      CROSS JOIN LATERAL (SELECT f.id FROM files f WHERE f.folder_id = seen.id OFFSET 0) f`,
  has: 'f.folder_id IN (TABLE seen)',
};

/** OFFSET 0 keeps the planner from reading all folders of the tenant in the order of the page. */
function foldersFound(query: SearchQuery, request: Request, params: Parameters): string {
  const conditions = ['d.id IN (TABLE seen)', ...conditionsOfFolders(query, params), ...FOLDERS.after(request, params)];
  return `(SELECT d.id * 2 + ${KINDS.folder} AS id, d.updated_at
      FROM (SELECT * FROM folders d WHERE ${conditions.join(' AND ')} OFFSET 0) d
      ORDER BY ${FOLDERS.orderBy(request)} LIMIT ${params.add(request.limit + 1)})`;
}
