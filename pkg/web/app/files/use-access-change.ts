import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { LazyRows } from '../../design/grid/lazy-rows.ts';
import type { Entry } from './entry.ts';

/**
 * Calls `onChange` when what the reader may do with the entries of a folder has changed: the same is likely of the folder itself,
 * for which no look asks. An empty list tells nothing, so there it is also called when the page is seen again.
 */
export function useAccessChange(rows: LazyRows<Entry>, onChange: () => void): void {
  /** Undefined: no row is known yet. */
  const access = useMemo(
    () => (rows.next === undefined ? undefined : [...new Set(rows.loaded.map((row) => row.access ?? ''))].toSorted().join()),
    [rows],
  );
  const before = useRef(access);
  useEffect(() => {
    if (before.current !== undefined && access !== undefined) onChange();
    before.current = access;
  }, [access]);
  useEffect(() => {
    if (access !== '') return undefined;
    const look = (): void => {
      if (document.visibilityState === 'visible') onChange();
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [access]);
}
