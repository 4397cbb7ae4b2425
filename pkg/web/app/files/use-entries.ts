import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useObserved } from '../use-observed.ts';
import { whileVisible } from '../while-visible.ts';
import { EntryList, type ListState } from './entry-list.ts';
import { keepCurrent } from './shown-lists.ts';
import type { Source } from './sources.ts';

/** Others' changes show within 5 s (issue: two people in one folder); the rest is for the request and for the rendering. */
const REFRESH_MS = 4_000;
/** Rows before the gap at which the next page is asked for. */
const AHEAD = 60;

export interface Entries extends ListState {
  readonly list: EntryList;
  /** Says which rows are seen, so that the next page comes in time. */
  readonly seen: (start: number, end: number) => void;
}

/** Loads the list of a source as it is scrolled, and asks for changes while the page is visible. */
export function useEntries(source: Source): Entries {
  const list = useMemo(() => new EntryList(source), [source.key]);
  const state = useObserved(list.state);
  const shown = useRef({ start: 0, end: 0 });
  const isAsking = useRef(false);

  useEffect(() => {
    const endCurrent = keepCurrent(list);
    void list.more();
    const ask = (): void => {
      if (isAsking.current) return;
      isAsking.current = true;
      void list.refresh(shown.current.start, shown.current.end).finally(() => (isAsking.current = false));
    };
    const endLooks = whileVisible(ask, REFRESH_MS);
    return () => {
      endCurrent();
      endLooks();
      list.stop();
    };
  }, [list]);

  const seen = (start: number, end: number): void => {
    shown.current = { start, end };
    list.see(start, end);
    const { rows, problem, isLoading } = list.state.value;
    const { gap } = rows;
    // After a failure only a button asks again; else each rendering would.
    if (gap === undefined || problem || isLoading || rows.next === undefined) return;
    if (gap <= end + AHEAD && gap >= start - AHEAD) void list.more();
  };
  // What was seen while a look for changes had yet to end, or after one had failed, is asked for when the list is well again:
  // nobody need scroll again.
  useEffect(() => seen(shown.current.start, shown.current.end), [list, state.isLoading, state.problem]);
  return { ...state, list, seen };
}
