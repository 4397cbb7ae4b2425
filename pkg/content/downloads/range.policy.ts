/** The bytes of a file that a download sends; `end` is inclusive, as in Content-Range. */
export type Selection =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: Selection = { kind: 'whole' };
const UNSATISFIABLE: Selection = { kind: 'unsatisfiable' };
const ONE_RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * Reads a Range header (RFC 9110 §14.1.2, §14.2) for a file of `size` bytes.
 * A single range of bytes is served as 206. Another unit, several ranges or an invalid range is ignored, as the RFC allows, and
 * the whole file is sent. A range that begins past the end is unsatisfiable; one that ends past it is cut there. For an empty
 * file, `bytes=0-`, `bytes=0-1023` and `bytes=-5` select the whole file: players and resuming clients request "all of it" that
 * way, and Content-Range cannot express an empty range.
 */
export function selectRange(header: string | undefined, size: number): Selection {
  const match = header === undefined ? null : ONE_RANGE.exec(header.trim());
  if (!match) return WHOLE;
  const [, first, last] = match;
  if (first === '' && last === '') return WHOLE;
  if (first === '') {
    const length = Number(last);
    if (length === 0) return UNSATISFIABLE;
    if (size === 0) return WHOLE;
    return { kind: 'part', start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? Infinity : Number(last);
  if (end < start) return WHOLE;
  if (size === 0 && start === 0) return WHOLE;
  if (start >= size) return UNSATISFIABLE;
  return { kind: 'part', start, end: Math.min(end, size - 1) };
}

/**
 * Returns whether If-Range lets a Range through (RFC 9110 §13.1.5): it is absent, or the present strong tag. A date never
 * matches, because downloads have no Last-Modified.
 */
export const rangeApplies = (ifRange: string | undefined, etag: string): boolean =>
  ifRange === undefined || ifRange.trim() === `"${etag}"`;
