import { Parameters, type Statement } from '../../store/postgres/keyset.ts';
import { GUESTS } from '../lists/file-list.sql.ts';
import { hidden, NEWEST_MAX, newestFiles } from '../lists/newest-files.sql.ts';
import { foldedName, nameContains, namePattern } from '../model/names/names.sql.ts';
import { taggedFiles } from '../lists/tag-filter.sql.ts';
import { conditionsOf, conditionsOfFiles, conditionsOfFolders, isOfFiles, type Searcher, seenFolders } from './conditions.sql.ts';
import type { SearchQuery } from './search.schema.ts';

/**
 * The ways in which a searcher sees names: folders, files of theirs, files granted to them, files of others below folders. Of
 * many names the first 1,000 are ranked, so that no folder is missing.
 */
const WAYS = ['folders', 'own', 'granted', 'below'] as const;
export type Way = (typeof WAYS)[number];

/** The names that were found. */
export interface NamesRow {
  /** A line for each name in which all words were found: `id name`, the name as names are compared; null: there is none. */
  readonly found: string | null;
  /** The words as names are compared. */
  readonly words: readonly string[];
}

/** The names found in one way, among so many that were read. */
export interface NewestRow extends NamesRow {
  readonly way: Way;
  readonly read: number;
}

/** A name is ranked among so many. */
export const RANKED_MAX = 1_000;
/** A trigram index finds parts of three characters; shorter ones are looked for in so many of the newest names. */
const INDEXED_PART = 3;
const UNINDEXED_MAX = 50_000;
/**
 * Returns the one statement that finds names, with one row: the first 1,000. It reads them in these ways. By a part of three
 * characters or more an index finds them where that is less than to read what the searcher sees; when all parts are shorter, the
 * 50,000 newest of each way are read, and folders in which nobody else has a file are not read for others' files.
 */
export function foundNames(
  searcher: Searcher,
  words: readonly string[],
  query: SearchQuery,
  ways: readonly Way[] = WAYS,
): Statement {
  const params = new Parameters();
  const me = params.add(searcher.userId);
  const seen = seenFolders(searcher, me, query, params);
  const named = words.map((word) => params.add(word));
  const isIndexed = words.some((word) => Array.from(word).length >= INDEXED_PART);
  const parts = [
    ...(isOfFiles(query) || !ways.includes('folders') ? [] : [foldersFound(named, query, params)]),
    ...(query.type === 'folder' ? [] : filesFound(searcher, ways, { isIndexed, named, me }, query, params)),
  ];
  const sql = `
    WITH RECURSIVE ${seen}${isIndexed ? '' : `, ${GUESTS}`}
    SELECT string_agg(${LINE}, ${NEW_LINE}) AS found, ${foldedWords(named)}
    FROM (SELECT * FROM (${parts.length === 0 ? NOTHING : parts.join(' UNION ALL ')}) c LIMIT ${RANKED_MAX}) n`;
  return { sql, params: params.values };
}

/**
 * Returns the statement of a search by words alone that reads the newest 1,000 names of each way, a row for each. It needs no
 * index, so it is prepared: to plan the other statement takes longer than to run this one.
 */
export function foundAmongNewest(
  searcher: Searcher,
  words: readonly string[],
  query: SearchQuery,
): Statement & { readonly name: string } {
  const params = new Parameters();
  const me = hidden(searcher.userId, params);
  const seen = seenFolders(searcher, me, query, params);
  const named = words.map((word) => params.add(word));
  const granted = searcher.files.length === 0 ? undefined : `${params.add(searcher.files)}::uuid[]`;
  const ways: Readonly<Partial<Record<Way, string>>> = {
    folders: `SELECT d.id * 2 + 1 AS id, ${foldedName('d.name')} AS folded, d.deleted_at FROM folders d
      WHERE d.id IN (TABLE seen) LIMIT ${NEWEST_MAX}`,
    ...newestFiles(me, granted, 'f.id * 2 AS id, f.name_search AS folded, f.updated_at, f.deleted_at'),
  };
  const has = named.map((_, at) => `n.folded LIKE (SELECT word_${at} FROM words)`).join(' AND ');
  const found = `string_agg(${LINE}, ${NEW_LINE}) FILTER (WHERE n.deleted_at IS NULL AND ${has})`;
  const sql = `
    WITH RECURSIVE ${seen}, ${GUESTS},
    words AS MATERIALIZED (SELECT ${named.map((word, at) => `${namePattern(word)} AS word_${at}`).join(', ')})
    ${Object.entries(ways)
      .map(([name, way]) => `SELECT '${name}' AS way, ${found} AS found, count(*) AS read, ${foldedWords(named)} FROM (${way}) n`)
      .join(' UNION ALL ')}`;
  const by = `${granted ? 'files' : 'no-files'}-${searcher.folders.length === 0 ? 'no-folders' : 'folders'}`;
  return { sql, params: params.values, name: `content-search-${by}-${words.length}` };
}

/** No name has a control character. */
const LINE = `n.id::text || ' ' || n.folded`;
const NEW_LINE = String.raw`E'\n'`;
const foldedWords = (words: readonly string[]): string =>
  `json_build_array(${words.map((word) => `carrel.fold(${word})`).join(', ')}) AS words`;

/** Returns whether a search is by words alone. More words than a few are not worth a prepared statement for each number. */
export const isUsualSearch = (words: readonly string[], query: SearchQuery): boolean =>
  words.length <= WORDS_PREPARED && Object.entries(query).every(([name, value]) => OF_PAGES.has(name) || value === undefined);
const WORDS_PREPARED = 3;
const OF_PAGES = new Set(['q', 'limit', 'cursor']);

/** What a search for folders by a property that only files have finds. */
const NOTHING = `SELECT 0::bigint AS id, '' AS folded WHERE false`;

function foldersFound(named: readonly string[], query: SearchQuery, params: Parameters): string {
  const folded = foldedName('d.name');
  const conditions = [...conditionsOfFolders(query, params), ...named.map((word) => nameContains(folded, word))];
  return `(SELECT d.id * 2 + 1 AS id, ${folded} AS folded FROM folders d
    WHERE d.id IN (TABLE seen) AND ${conditions.join(' AND ')} LIMIT ${RANKED_MAX})`;
}

/** Returns the files found in each of these ways. */
function filesFound(
  { files }: Searcher,
  ways: readonly Way[],
  { isIndexed, named, me }: { readonly isIndexed: boolean; readonly named: readonly string[]; readonly me: string },
  query: SearchQuery,
  params: Parameters,
): string[] {
  const granted = files.length === 0 ? undefined : `${params.add(files)}::uuid[]`;
  const conditions = [
    ...conditionsOf('f', query, params),
    ...named.map((word) => nameContains('f.name_search', word)),
    ...conditionsOfFiles(query, params),
    ...(query.tag === undefined ? [] : [taggedFiles(query.tag, me, params).has]),
    ...(query.folder_id === undefined ? [] : ['f.folder_id IN (TABLE seen)']),
  ].join(' AND ');
  const newest = (way: string): string =>
    `(SELECT * FROM files f WHERE ${way} ORDER BY f.updated_at DESC, f.id DESC LIMIT ${UNINDEXED_MAX}) f WHERE`;
  const hasGuests = isIndexed ? '' : `EXISTS (SELECT FROM guests g WHERE g.owner_id NOT IN (0, ${me})) AND `;
  const where: Readonly<Partial<Record<Way, string>>> = {
    own: `f.owner_id = ${me}`,
    ...(granted && { granted: `f.uuid = ANY (${granted}) AND f.owner_id <> ${me}` }),
    below: `${hasGuests}f.folder_id IN (TABLE seen) AND f.owner_id <> ${me}${granted ? ` AND f.uuid <> ALL (${granted})` : ''}`,
  };
  return ways
    .flatMap((way) => where[way] ?? [])
    .map(
      (way) =>
        `(SELECT f.id * 2 AS id, f.name_search AS folded
          FROM ${isIndexed ? `files f WHERE ${way} AND` : newest(way)} ${conditions} LIMIT ${RANKED_MAX})`,
    );
}
