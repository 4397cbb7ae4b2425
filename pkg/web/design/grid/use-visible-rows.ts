import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useState } from 'preact/hooks';
import { type Range, scrollNeeded, visibleRange } from './visible-range.ts';

/** tokens.css, --row: in rem. */
const ROW_REM = 2.75;
const ROW_REM_COARSE = 3.25;

/** Rows below the one with the focus. */
const CONTEXT = 1.5;

const rowHeight = (): number =>
  Number.parseFloat(getComputedStyle(document.documentElement).fontSize) *
  (matchMedia('(pointer: coarse)').matches ? ROW_REM_COARSE : ROW_REM);

interface VisibleRows extends Range {
  /** Pixels. */
  readonly row: number;
  /** Scrolls just as far as the row needs to be seen. */
  readonly reveal: (index: number) => void;
}

/**
 * Follows which rows of `body` are on the screen. Whatever scrolls may do so, the page or a box around the grid: only where the
 * rows are on the screen counts. `height`: pixels of a row that is none of a table; what sticks above it is its
 * `scroll-margin-block-start`.
 */
export function useVisibleRows(body: RefObject<HTMLElement | null>, count: number, height?: number): VisibleRows {
  const [usual, setRow] = useState(rowHeight);
  const row = height ?? usual;
  const [range, setRange] = useState<Range>({ start: 0, end: Math.min(count, 40) });

  const measure = useCallback(() => {
    if (!body.current) return;
    const { top } = body.current.getBoundingClientRect();
    const next = visibleRange({ top, screen: window.innerHeight, row, count });
    setRange((last) => (last.start === next.start && last.end === next.end ? last : next));
  }, [row, count]);

  useLayoutEffect(() => {
    const resized = (): void => {
      setRow(rowHeight());
      measure();
    };
    measure();
    // Scrolling does not bubble; in the phase of capture the document sees it of any box.
    document.addEventListener('scroll', measure, { capture: true, passive: true });
    window.addEventListener('resize', resized);
    return () => {
      document.removeEventListener('scroll', measure, { capture: true });
      window.removeEventListener('resize', resized);
    };
  }, [measure]);

  const reveal = (index: number): void => {
    const element = body.current;
    if (!element) return;
    const scroller = scrollerOf(element);
    const isPage = scroller === document.scrollingElement;
    const box = isPage ? { top: 0, bottom: window.innerHeight } : scroller.getBoundingClientRect();
    const head = element.parentElement?.querySelector('thead');
    const top = element.getBoundingClientRect().top + index * row;
    // The headings stick where their style says, below what else sticks there.
    const { insetBlockStart, scrollMarginBlockStart } = getComputedStyle(head ?? element);
    const stuck = Number.parseFloat(head ? insetBlockStart : scrollMarginBlockStart) || 0;
    const from = Math.max(box.top, 0) + stuck + (head?.offsetHeight ?? 0);
    // One more row is seen below, where there is one: what lies at the edge of the screen then covers none with the focus.
    const to = Math.min(box.bottom, window.innerHeight) - usual * CONTEXT;
    scroller.scrollTop += scrollNeeded({ top, bottom: top + row }, from, to);
    measure();
  };

  const start = Math.min(range.start, count);
  return { start, end: Math.max(start, Math.min(range.end, count)), row, reveal };
}

function scrollerOf(element: Element): Element {
  for (let next = element.parentElement; next; next = next.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(next).overflowY) && next.scrollHeight > next.clientHeight) return next;
  }
  return document.scrollingElement ?? document.documentElement;
}
