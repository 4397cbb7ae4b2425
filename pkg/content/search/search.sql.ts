import { integerKey, keyset, type KeysetRequest, Parameters, type Statement } from '../../store/postgres/keyset.ts';
import { GUESTS } from '../lists/file-list.sql.ts';
import { foldedName, nameContains } from '../model/names/names.sql.ts';
import { taggedFiles } from '../lists/tag-filter.sql.ts';
import { conditionsOf, conditionsOfFiles, conditionsOfFolders, isOfFiles, type Searcher, seenFolders } from './conditions.sql.ts';
import type { SearchQuery } from './search.schema.ts';

/** The results of a search, best first. */
export interface FoundRow {
  readonly kind: 'file' | 'folder';
  readonly uuid: string;
  /** 0 to SCORE_MAX a word. */
  readonly score: number;
  /** Unique among files and folders. */
  readonly id: number;
}

type SearchSort = 'rank' | 'id';

export const FOUND = keyset<FoundRow, SearchSort>({
  keys: { rank: integerKey('r.score', ({ score }) => score), id: integerKey('r.id', ({ id }) => id) },
  fields: [],
  fallback: '-rank',
  tieBreaker: 'id',
});

/** A name is ranked among so many. */
const CANDIDATES_MAX = 1_000;
/** A trigram index finds parts of three characters; shorter ones are looked for in so many of the newest names. */
const INDEXED_PART = 3;
const UNINDEXED_MAX = 50_000;
/**
 * The points of one word: as the whole name, at the beginning of a word, within a word. Of two equal names the shorter comes
 * first.
 */
const POINTS = { whole: 3_000, prefix: 2_000, part: 1_000 };
const LENGTH_MAX = 999;
export const SCORE_MAX = POINTS.whole + LENGTH_MAX;

/**
 * Between words. ASCII alone, whatever the locale of the database; other signs count as letters here, so they make a word longer
 * and its rank lower at most.
 */
const BETWEEN = String.raw`\s!-/:-@\[-${'`'}{-~`;

/**
 * Returns the one statement of a page. Candidates are read in three ways, as in a list of files: what is the searcher's, what
 * is granted to them, and what others have in folders that they see; and the folders that they see. The first 1,000 of them are
 * ranked. By a part of three characters or more an index finds them where that is less than to read what they see; when all
 * parts are shorter, the 50,000 newest of each way are read, and folders in which nobody else has a file are not read for
 * others' files.
 */
export function searchPage(
  searcher: Searcher,
  words: readonly string[],
  query: SearchQuery,
  request: KeysetRequest<SearchSort>,
): Statement {
  const params = new Parameters();
  const me = params.add(searcher.userId);
  const seen = seenFolders(searcher, me, query, params);
  const named = words.map((word) => params.add(word));
  const isIndexed = words.some((word) => Array.from(word).length >= INDEXED_PART);
  const ways = [
    ...(isOfFiles(query) ? [] : [foldersFound(named, query, params)]),
    ...(query.type === 'folder' ? [] : filesFound(searcher, { isIndexed, named, me }, query, params)),
  ];
  const after = FOUND.after(request, params);
  const sql = `
    WITH RECURSIVE ${seen}, ${isIndexed ? '' : `${GUESTS}, `}candidate AS MATERIALIZED (
      SELECT * FROM (${ways.length === 0 ? NOTHING : ways.join(' UNION ALL ')}) c LIMIT ${CANDIDATES_MAX}
    ), ranked AS (
      SELECT c.kind, c.uuid, c.id, ${named.map(pointsOf).join(' + ')} + ${LENGTH_MAX}
        - least(length(c.folded), ${LENGTH_MAX}) AS score
      FROM candidate c
    )
    SELECT r.kind, r.uuid, r.id, r.score FROM ranked r ${after.length === 0 ? '' : `WHERE ${after.join(' AND ')}`}
    ORDER BY ${FOUND.orderBy(request)} LIMIT ${params.add(request.limit + 1)}`;
  return { sql, params: params.values };
}

/** The candidates of a search for folders by a property that only files have. */
const NOTHING = `SELECT 'file' AS kind, NULL::uuid AS uuid, 0::bigint AS id, '' AS folded WHERE false`;

/**
 * Returns an expression for the points of a word. It uses expressions of the whole statement, which takes a fifth of the time
 * of patterns made for each name. A part of signs alone begins no word. A part that very many names have is mostly a whole word
 * in them, so the expression tests that first.
 */
function pointsOf(word: string): string {
  const folded = `carrel.fold(${word})`;
  const beginning = String.raw`'(?:^|[${BETWEEN}])' || regexp_replace(${folded}, '[^[:alnum:]]', '\\\&', 'g')`;
  const { whole, prefix, part } = POINTS;
  return `CASE WHEN ${folded} ~ '[${BETWEEN}]' THEN ${part} WHEN c.folded ~ (${beginning} || '(?:[${BETWEEN}]|$)') THEN ${whole}
    WHEN c.folded ~ (${beginning}) THEN ${prefix} ELSE ${part} END`;
}

function foldersFound(named: readonly string[], query: SearchQuery, params: Parameters): string {
  const folded = foldedName('d.name');
  const conditions = [...conditionsOfFolders(query, params), ...named.map((word) => nameContains(folded, word))];
  return `(SELECT 'folder' AS kind, d.uuid, d.id * 2 + 1 AS id, ${folded} AS folded FROM folders d
    WHERE d.id IN (TABLE seen) AND ${conditions.join(' AND ')} LIMIT ${CANDIDATES_MAX})`;
}

/** Returns the files found in each of the three ways. */
function filesFound(
  { files }: Searcher,
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
  return [
    `f.owner_id = ${me}`,
    ...(granted ? [`f.uuid = ANY (${granted}) AND f.owner_id <> ${me}`] : []),
    `${hasGuests}f.folder_id IN (TABLE seen) AND f.owner_id <> ${me}${granted ? ` AND f.uuid <> ALL (${granted})` : ''}`,
  ].map(
    (way) =>
      `(SELECT 'file' AS kind, f.uuid, f.id * 2 AS id, f.name_search AS folded
        FROM ${isIndexed ? `files f WHERE ${way} AND` : newest(way)} ${conditions} LIMIT ${CANDIDATES_MAX})`,
  );
}
