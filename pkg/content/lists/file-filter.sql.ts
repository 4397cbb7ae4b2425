/**
 * A filter that may match few files or very many. The statement is planned without its value, so that the planner cannot know
 * which.
 */
export interface FileFilter {
  /** A statement for the internal ids of all of them, as `file_id`. */
  readonly files: string;
  /** The condition that a file `f` is one of them. */
  readonly has: string;
}

/**
 * If a filter matches at most this many files, they are read and sorted. If it matches more, reading the list in its order finds
 * a page of them soon. Either takes about 30 ms for a million files.
 */
const FEW = 10_000;

/** A list with filters: the files of each filter are counted up to FEW, and a filter with few files provides the candidates. */
export interface FilteredList {
  /** Common table expressions of the statement; `few` is the one of the candidates, empty where each filter has more. */
  readonly expressions: readonly string[];
  /** Says whether a filter matches few files: a condition that is constant for the whole statement. */
  readonly isFew: string;
  /** The files of `few` as `f`. OFFSET 0 keeps the planner from reading the list's order instead. */
  readonly candidates: string;
}

export function filteredList(filters: readonly FileFilter[]): FilteredList {
  const matches = filters.map(({ files }, at) => `match_${at} AS MATERIALIZED (${files} LIMIT ${FEW + 1})`);
  const counts = filters.map((_filter, at) => `(SELECT count(*) FROM match_${at})`);
  const parts = filters.map((_filter, at) => {
    const conditions = [...counts.slice(0, at).map((count) => `${count} > ${FEW}`), `${counts[at]} <= ${FEW}`];
    return `SELECT file_id FROM match_${at} WHERE ${conditions.join(' AND ')}`;
  });
  return {
    expressions: [...matches, `few AS MATERIALIZED (${parts.join(' UNION ')})`],
    isFew: `(SELECT least(${counts.join(', ')}) <= ${FEW})`,
    candidates: 'few CROSS JOIN LATERAL (SELECT * FROM files f WHERE f.id = few.file_id OFFSET 0) f',
  };
}
