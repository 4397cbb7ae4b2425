import { foreignCursor, pageRequest } from '../../api/paging.ts';
import type { KeysetRequest, KeyValue, ListOrder } from '../../store/postgres/keyset.ts';

/** The points of one word: as the whole name or a whole word of it, at the beginning of a word, within a word. */
const POINTS = { whole: 3_000, beginning: 2_000, part: 1_000 };
/** Of two equal names the shorter comes first. */
const LENGTH_MAX = 999;
/** The most for one word. */
export const SCORE_MAX = POINTS.whole + LENGTH_MAX;

/** Between words: ASCII alone. Other signs count as letters here, so they make a word longer and its rank lower at most. */
const BETWEEN = /[\s!-/:-@[-`{-~]/;
const isBetween = (code: number): boolean =>
  code <= 47 ? code >= 32 || (code >= 9 && code <= 13) : (code >= 58 && code <= 64) || isSign(code);
const isSign = (code: number): boolean => (code >= 91 && code <= 96) || (code >= 123 && code <= 126);

/** Returns the points of a name that has this word. */
function pointsOf(name: string, word: string): number {
  let points = POINTS.part;
  for (let at = name.indexOf(word); at !== -1; at = name.indexOf(word, at + 1)) {
    if (at > 0 && !isBetween(name.charCodeAt(at - 1))) continue;
    const end = at + word.length;
    if (end === name.length || isBetween(name.charCodeAt(end))) return POINTS.whole;
    points = POINTS.beginning;
  }
  return points;
}

/** A name that was found. `id`: twice that of a file, and one more than twice that of a folder. */
export interface RankedRow {
  readonly id: number;
  readonly score: number;
}

type RankedSort = 'rank' | 'id';

/**
 * The best first, of the newest names or of those that the index found: where more than 1,000 fit, they are not the same. A
 * cursor says which, so that all pages are of the same.
 */
export const RANKED: ListOrder<RankedSort> = { fields: [], fallback: '-rank', tieBreaker: 'id' };
const RANKED_BY_INDEX: ListOrder<'rank_by_index' | 'id'> = { fields: [], fallback: '-rank_by_index', tieBreaker: 'id' };

/** Returns the request for a page, and of which names it is; without a cursor of those that `byIndex` says. */
export function rankedRequest(
  query: { readonly limit: number; readonly cursor?: string | undefined },
  byIndex: boolean,
): { readonly request: KeysetRequest; readonly byIndex: boolean } {
  const first = byIndex ? RANKED_BY_INDEX : RANKED;
  const second = byIndex ? RANKED : RANKED_BY_INDEX;
  try {
    return { request: pageRequest(query, first), byIndex };
  } catch (error) {
    if (query.cursor === undefined) throw error;
    return { request: pageRequest(query, second), byIndex: !byIndex };
  }
}

/**
 * Returns the best of these lines, those of a page and one more. A line is `id name`, all words are in its name, and both are
 * folded. Throws `validation_failed` for a cursor of other values.
 */
export function rankedPage(lines: readonly string[], words: readonly string[], { limit, after }: KeysetRequest): RankedRow[] {
  const last = after && rowOf(after);
  // A part of signs begins no word.
  const whole = words.filter((word) => !BETWEEN.test(word));
  const ofSigns = (words.length - whole.length) * POINTS.part;
  const rows = lines.map((line) => {
    const end = line.indexOf(' ');
    const name = line.slice(end + 1);
    let score = ofSigns + LENGTH_MAX - Math.min(name.length, LENGTH_MAX);
    for (const word of whole) score += pointsOf(name, word);
    return { id: Number(line.slice(0, end)), score };
  });
  const left = last ? rows.filter((row) => compare(row, last) > 0) : rows;
  return left.sort(compare).slice(0, limit + 1);
}

const compare = (a: RankedRow, b: RankedRow): number => b.score - a.score || b.id - a.id;

/** Returns the values of a cursor, as `rowOf` reads them. */
export const valuesOf = ({ score, id }: RankedRow): KeyValue[] => [score, id];

function rowOf([score, id]: readonly KeyValue[]): RankedRow {
  if (typeof score !== 'number' || typeof id !== 'number') throw foreignCursor();
  return { score, id };
}
