import { type PageText, type Part, positionsOf } from './pdf-text.ts';

/** How hits are drawn: all of them, and the one at which the reader is. */
type Look = 'pdf-hit' | 'pdf-hit-now';

/**
 * Returns the range of a part of a page's text; undefined if it is not laid out. `elements`: of the page's runs, in their order.
 */
export function rangeOf(text: PageText, elements: readonly HTMLElement[], part: Part): Range | undefined {
  const [begin, end] = positionsOf(text, part);
  const first = elements[begin.run]?.firstChild;
  const last = elements[end.run]?.firstChild;
  if (!first || !last) return undefined;
  const range = document.createRange();
  try {
    range.setStart(first, begin.offset);
    range.setEnd(last, end.offset);
  } catch {
    return undefined; // the run was laid out with another text than was read
  }
  return range;
}

/**
 * Draws ranges in colour, and returns the function that ends it. The elements stay as they are. Browsers of before 2025 have no
 * such highlights: there the page alone comes into view.
 */
export function highlight(look: Look, ranges: readonly Range[]): () => void {
  if (!('highlights' in CSS)) return () => undefined;
  const highlighted = CSS.highlights.get(look) ?? new Highlight();
  if (look === 'pdf-hit-now') highlighted.priority = 1;
  CSS.highlights.set(look, highlighted);
  for (const range of ranges) highlighted.add(range);
  return () => {
    for (const range of ranges) highlighted.delete(range);
  };
}
