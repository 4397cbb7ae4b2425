import type { Tagged } from '../../api/client.ts';
import type { Page } from '../../design/grid/lazy-rows.ts';
import { type Entry, idOf } from './entry.ts';

/** A page as it was read last, and the cursor by which. Without an entity tag: it was not read since a page before it changed. */
export interface KnownPage extends Tagged<Page<Entry>> {
  readonly cursor: string | undefined;
}

/**
 * Returns the pages with the one at `at` as it was read just now, and those behind it joined to it: a cursor is the last row of
 * the page before, so that one more or less row in a page moves the beginning of the next. Only that one has to be read again.
 *
 * Invariants:
 * - What was known behind the page stays, but for what the page shows to be elsewhere or gone.
 * - No row is between two pages: each begins where the one before ends.
 */
export function withPageRead(pages: readonly KnownPage[], at: number, read: KnownPage): readonly KnownPage[] {
  const before = [...pages.slice(0, at), read];
  const { rows, next } = read.body;
  if (next === null) return before;
  const ids = new Set(rows.map(idOf));
  const behind = pages.slice(at);
  const known = behind.flatMap((page) => page.body.rows);
  // Rows up to the last that it shows are in it now, or gone.
  let from = known.findLastIndex((row) => ids.has(row.id)) + 1;
  /** What the page had last, and has no more room for. */
  let pushed: readonly Entry[] = [];
  for (const [index, page] of behind.entries()) {
    const left = page.body.rows.slice(Math.min(from, page.body.rows.length));
    from = Math.max(0, from - page.body.rows.length);
    const isLast = index === behind.length - 1;
    if (index === 0 && !isLast) {
      pushed = left;
      continue;
    }
    const now = [...pushed, ...left];
    if (now.length === 0) continue;
    const isSame = index > 0 && page.cursor === next && now.length === page.body.rows.length;
    const joined: KnownPage = isSame ? page : { cursor: next, etag: undefined, body: { rows: now, next: page.body.next } };
    return [...before, joined, ...behind.slice(index + 1)];
  }
  return before;
}

/** Returns the rows of pages, each once. */
export function rowsOf(pages: readonly KnownPage[]): readonly Entry[] {
  const rows = new Map<string, Entry>();
  for (const { body } of pages) for (const row of body.rows) if (!rows.has(row.id)) rows.set(row.id, row);
  return [...rows.values()];
}
