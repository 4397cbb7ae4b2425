import { useEffect, useRef } from 'preact/hooks';
import type { Pages } from './use-pages.ts';

interface Identified {
  readonly id: string;
}

/**
 * Asks for the first page of a list again every `ms` while the page is visible: what is new stands first, what has changed is
 * shown as it is. Returns a function that asks now. `of`: what is asked for.
 */
export function useNewest<T extends Identified>(
  list: Pages<T>,
  load: (signal: AbortSignal) => Promise<{ readonly data: readonly T[] }>,
  ms: number,
  of: readonly unknown[],
): () => void {
  const latest = useRef({ list, load });
  latest.current = { list, load };
  const ask = useRef((): void => undefined);
  useEffect(() => {
    const abort = new AbortController();
    ask.current = () => {
      const show = ({ data }: { readonly data: readonly T[] }): void => {
        if (!abort.signal.aborted) latest.current.list.change((before) => withNewest(before, data));
      };
      // The next time mends a failure: the note above a list is of what somebody asked for.
      latest.current.load(abort.signal).then(show, () => undefined);
    };
    const timer = setInterval(() => {
      if (document.visibilityState !== 'hidden') ask.current();
    }, ms);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [ms, ...of]);
  return () => ask.current();
}

function withNewest<T extends Identified>(before: readonly T[], first: readonly T[]): readonly T[] {
  const now = new Map(first.map((one) => [one.id, one]));
  const known = new Set(before.map(({ id }) => id));
  return [...first.filter(({ id }) => !known.has(id)), ...before.map((one) => now.get(one.id) ?? one)];
}
