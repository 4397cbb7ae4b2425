import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { patiently } from '../api/patience.ts';
import { type ApiProblem, isAbort, problemOf } from '../api/problem.ts';

export interface Loaded<T> {
  /** The last answer; it stays while it is asked for again. */
  readonly value: T | undefined;
  readonly problem: ApiProblem | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * Asks the API and returns the answer or the problem; waits where there were too many requests. A change of `of` (what is asked
 * for) drops the answer, ends the request and asks again.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, of: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; problem?: ApiProblem; isLoading: boolean }>({ isLoading: true });
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController | undefined>(undefined);

  const ask = useCallback(() => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    patiently(() => latest.current(abort.signal), abort.signal).then(
      (value) => abort.signal.aborted || setState({ value, isLoading: false }),
      (error: unknown) => {
        if (abort.signal.aborted || isAbort(error)) return;
        setState((before) => ({ ...before, problem: problemOf(error), isLoading: false }));
      },
    );
  }, []);
  useEffect(() => {
    setState({ isLoading: true });
    ask();
    return () => running.current?.abort();
  }, of);

  const reload = useCallback(() => {
    setState(({ value }) => ({ ...(value === undefined ? {} : { value }), isLoading: true }));
    ask();
  }, []);
  return { value: state.value, problem: state.problem, isLoading: state.isLoading, reload };
}
