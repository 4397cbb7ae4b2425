import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { patiently } from '../api/patience.ts';
import { type ApiProblem, isAbort, problemOf } from '../api/problem.ts';

/** A page of a list of the API. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly pagination: { readonly next_cursor: string | null; readonly has_more: boolean };
  /** Its entity tag, where what loads it says so. */
  readonly etag?: string | undefined;
}

export interface Pages<T> {
  /** Undefined until the first page has arrived. */
  readonly items: readonly T[] | undefined;
  /** The first page as it was read last. */
  readonly first: Page<T> | undefined;
  readonly isMore: boolean;
  readonly isLoading: boolean;
  readonly problem: ApiProblem | undefined;
  /** Loads the next page, or again the one that failed. */
  readonly more: () => void;
  /** Loads the list from its beginning. */
  readonly reload: () => void;
  /** Changes what is shown after a change that the API has confirmed. `first`: the first page, if it was read for that. */
  readonly change: (items: (before: readonly T[]) => readonly T[], first?: Page<T>) => void;
}

interface State<T> {
  readonly items?: readonly T[];
  readonly cursor: string | null;
  readonly isLoading: boolean;
  readonly problem?: ApiProblem;
}

/**
 * Loads a list page by page, and waits where there were too many requests. A change of `of` (what is asked for) ends the request
 * and begins anew. `load` may return undefined if the page still has the entity tag `known`.
 */
export function usePages<T>(
  load: (cursor: string | undefined, signal: AbortSignal, known: string | undefined) => Promise<Page<T> | undefined>,
  of: readonly unknown[],
): Pages<T> {
  const [state, setState] = useState<State<T>>({ cursor: null, isLoading: true });
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController | undefined>(undefined);
  const first = useRef<Page<T> | undefined>(undefined);

  const ask = useCallback((cursor: string | null) => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    const known = cursor === null ? first.current : undefined;
    const show = (read: Page<T> | undefined): void => {
      const page = read ?? known;
      if (abort.signal.aborted || !page) return;
      if (cursor === null) first.current = page;
      setState((before) => ({
        items: cursor === null ? page.data : [...(before.items ?? []), ...page.data],
        cursor: page.pagination.has_more ? page.pagination.next_cursor : null,
        isLoading: false,
      }));
    };
    const read = (): Promise<Page<T> | undefined> => latest.current(cursor ?? undefined, abort.signal, known?.etag);
    patiently(read, abort.signal).then(show, (error: unknown) => {
      if (abort.signal.aborted || isAbort(error)) return;
      setState((before) => ({ ...before, problem: problemOf(error), isLoading: false }));
    });
  }, []);
  useEffect(() => {
    first.current = undefined;
    setState({ cursor: null, isLoading: true });
    ask(null);
    return () => running.current?.abort();
  }, of);

  const from = (cursor: string | null): void => {
    setState(({ problem: _former, ...before }) => ({ ...before, isLoading: true }));
    ask(cursor);
  };
  return {
    items: state.items,
    first: first.current,
    isMore: state.cursor !== null,
    isLoading: state.isLoading,
    problem: state.problem,
    more: () => from(state.cursor),
    reload: () => from(null),
    change: (items, page) => {
      first.current = page ?? first.current;
      setState((before) => (before.items ? { ...before, items: items(before.items) } : before));
    },
  };
}
