import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { useVisibleRows } from '../../design/grid/use-visible-rows.ts';

/** Until the first card is there to be measured. Pixels. */
const LINE = 240;

interface CardLines {
  /** Cards side by side. */
  readonly columns: number;
  /** The first card near the screen, and the one behind the last. */
  readonly start: number;
  readonly end: number;
  /** Pixels of the lines before and behind those. */
  readonly before: number;
  readonly behind: number;
  /** Lines that a screen shows. */
  readonly page: number;
  /** Scrolls just as far as the card needs to be seen. */
  readonly reveal: (card: number) => void;
}

/** Follows which cards of a list are near the screen. All have one size, which depends on the width of the list. */
export function useCardLines(list: RefObject<HTMLElement | null>, count: number): CardLines {
  const [{ columns, line }, setSize] = useState({ columns: 1, line: LINE });
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const measure = (): void => {
      const { gridTemplateColumns, rowGap } = getComputedStyle(element);
      const card = element.firstElementChild?.getBoundingClientRect().height ?? 0;
      const next = { columns: gridTemplateColumns.split(' ').length, line: card === 0 ? LINE : card + Number.parseFloat(rowGap) };
      setSize((last) => (last.columns === next.columns && last.line === next.line ? last : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const lines = Math.ceil(count / columns);
  const { start, end, reveal } = useVisibleRows(list, lines, line);
  return {
    columns,
    start: start * columns,
    end: Math.min(count, end * columns),
    before: start * line,
    behind: (lines - end) * line,
    page: Math.max(1, Math.floor(window.innerHeight / line) - 1),
    reveal: (card) => reveal(Math.floor(card / columns)),
  };
}
