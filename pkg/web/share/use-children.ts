import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, isAbort, problemOf } from '../api/problem.ts';
import { useWhenOnline } from '../design/use-when-online.ts';
import type { Child, Link } from './link.ts';

export interface Children {
  /** Undefined until the first page has arrived. */
  readonly rows: readonly Child[] | undefined;
  readonly isMore: boolean;
  readonly isLoading: boolean;
  readonly problem: ApiProblem | undefined;
  /** Loads the next page. */
  readonly more: () => void;
  /** Loads what failed. */
  readonly again: () => void;
  /** Loads the list from its beginning; what is shown stays until then. */
  readonly reload: () => void;
}

interface State {
  readonly rows?: readonly Child[];
  readonly cursor: string | null;
  readonly isLoading: boolean;
  readonly problem?: ApiProblem;
  /** What failed: the page after it. */
  readonly failed?: string | null;
}

interface Wanted {
  readonly folderId: string | undefined;
  readonly query: string;
  readonly sort: string;
}

/** Loads what is in a folder of the link, page by page. Another folder, search or order begins anew. */
export function useChildren(link: Link, wanted: Wanted, onRefused: (problem: ApiProblem) => Promise<void>): Children {
  const { folderId, query, sort } = wanted;
  const [state, setState] = useState<State>({ cursor: null, isLoading: true });
  const running = useRef<AbortController | undefined>(undefined);
  const latest = useRef(onRefused);
  latest.current = onRefused;

  const ask = useCallback(
    (cursor: string | null): void => {
      running.current?.abort();
      const { signal } = (running.current = new AbortController());
      link.children({ folderId, query, sort, cursor: cursor ?? undefined }, signal).then(
        ({ data, pagination }) => {
          if (signal.aborted) return;
          setState(({ rows = [] }) => ({
            rows: cursor === null ? data : [...rows, ...data],
            cursor: pagination.has_more ? pagination.next_cursor : null,
            isLoading: false,
          }));
        },
        (error: unknown) => {
          if (signal.aborted || isAbort(error)) return;
          setState((before) => ({ ...before, problem: problemOf(error), failed: cursor, isLoading: false }));
          void latest.current(problemOf(error));
        },
      );
    },
    [link, folderId, query, sort],
  );
  useEffect(() => {
    setState({ cursor: null, isLoading: true });
    ask(null);
    return () => running.current?.abort();
  }, [ask]);

  const from = (cursor: string | null): void => {
    setState(({ problem: _former, ...before }) => ({ ...before, isLoading: true }));
    ask(cursor);
  };
  const again = (): void => from(state.failed ?? null);
  useWhenOnline(state.problem, again);
  return {
    rows: state.rows,
    isMore: state.cursor !== null,
    isLoading: state.isLoading,
    problem: state.problem,
    more: () => from(state.cursor),
    again,
    reload: () => from(null),
  };
}
