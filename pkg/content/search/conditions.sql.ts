import type { Parameters } from '../../store/postgres/keyset.ts';
import { mimeMatches } from '../lists/file-list.sql.ts';
import { seenFrom } from '../model/folders/folders.sql.ts';
import type { SearchQuery } from './search.schema.ts';

/** The person who searches: their own content, and what is granted to them. */
export interface Searcher {
  readonly userId: number;
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** Says whether a search is for files alone, since no folder has what it asks for. */
export const isOfFiles = ({ type, mime_type, size_min, size_max, tag }: SearchQuery): boolean =>
  type === 'file' || [mime_type, size_min, size_max, tag].some((value) => value !== undefined);

/**
 * Returns the common table expression `seen`: the folders below which the searcher sees everything, or those of them that are in
 * the folder of the search. `me`: the searcher's parameter.
 */
export function seenFolders({ folders }: Searcher, me: string, query: SearchQuery, params: Parameters): string {
  const granted = folders.length === 0 ? undefined : `${params.add(folders)}::uuid[]`;
  const below =
    query.folder_id === undefined
      ? ''
      : ` AND b.ancestry <@ (SELECT t.ancestry FROM folders t WHERE t.uuid = ${params.add(query.folder_id)})`;
  return `seen AS MATERIALIZED (
      SELECT DISTINCT b.id FROM folders r JOIN folders b ON b.ancestry <@ r.ancestry WHERE ${seenFrom(me, granted)}${below}
    )`;
}

/** Returns the conditions that files and folders share. */
export const conditionsOf = (alias: string, query: SearchQuery, params: Parameters): string[] => [
  `${alias}.deleted_at IS NULL`,
  ...(query.owner === undefined
    ? []
    : [`${alias}.owner_id = (SELECT u.id FROM users u WHERE u.uuid = ${params.add(query.owner)})`]),
  ...(query.created_after === undefined ? [] : [`${alias}.created_at > ${params.add(query.created_after)}::timestamptz`]),
  ...(query.created_before === undefined ? [] : [`${alias}.created_at < ${params.add(query.created_before)}::timestamptz`]),
];

/** Returns the conditions of the columns that files `f` alone have. */
export const conditionsOfFiles = (query: SearchQuery, params: Parameters): string[] => [
  ...(query.mime_type === undefined ? [] : [mimeMatches(query.mime_type, params)]),
  ...(query.size_min === undefined ? [] : [`f.size >= ${params.add(query.size_min)}`]),
  ...(query.size_max === undefined ? [] : [`f.size <= ${params.add(query.size_max)}`]),
];

/** Returns the conditions of folders `d` alone: a folder is not in itself. */
export const conditionsOfFolders = (query: SearchQuery, params: Parameters): string[] => [
  ...conditionsOf('d', query, params),
  ...(query.folder_id === undefined ? [] : [`d.uuid <> ${params.add(query.folder_id)}`]),
];
