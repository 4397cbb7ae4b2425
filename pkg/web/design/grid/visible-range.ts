/** Rows beyond what is seen, so that a quick scroll shows no blank. */
const BUFFER = 8;

export interface Range {
  /** The first rendered row. */
  readonly start: number;
  /** Behind the last one. */
  readonly end: number;
}

/**
 * Returns the rows to render. `top` is where row 0 begins, in pixels below the upper edge of the screen; negative once it has
 * been scrolled away.
 */
export function visibleRange({ top, screen, row, count }: { top: number; screen: number; row: number; count: number }): Range {
  const first = Math.floor(-top / row) - BUFFER;
  const behind = Math.ceil((screen - top) / row) + BUFFER;
  const start = Math.max(0, Math.min(first, count));
  return { start, end: Math.max(start, Math.min(behind, count)) };
}

/** Returns how far to scroll so that a row is seen whole between `from` and `to`, the edges of what is free on the screen. */
export function scrollNeeded(row: { top: number; bottom: number }, from: number, to: number): number {
  if (row.top < from) return row.top - from;
  return row.bottom > to ? row.bottom - to : 0;
}
