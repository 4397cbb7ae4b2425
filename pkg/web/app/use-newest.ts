import { useEffect, useRef } from 'preact/hooks';
import { inBackground } from '../api/slow-requests.ts';
import type { Page, Pages } from './use-pages.ts';
import { whileVisible } from './while-visible.ts';

interface Identified {
  readonly id: string;
}

/**
 * Asks for the first page of a list again every `ms` while the page is visible: what is new stands first, what has changed is
 * shown as it is. `load` returns undefined if it still has the entity tag `known`. Returns a function that asks now. `of`: what
 * is asked for.
 */
export function useNewest<T extends Identified>(
  list: Pages<T>,
  load: (signal: AbortSignal, known: string | undefined) => Promise<Page<T> | undefined>,
  ms: number,
  of: readonly unknown[],
): () => void {
  const latest = useRef({ list, load });
  latest.current = { list, load };
  const ask = useRef((): void => undefined);
  useEffect(() => {
    const abort = new AbortController();
    let underWay = 0;
    ask.current = () => {
      underWay += 1;
      const show = (page: Page<T> | undefined): void => {
        if (page && !abort.signal.aborted) latest.current.list.change((before) => withNewest(before, page.data), page);
      };
      // The next time mends a failure: the note above a list is of what somebody asked for.
      const read = latest.current.load(inBackground(abort.signal), latest.current.list.first?.etag);
      void read.then(show, () => undefined).finally(() => (underWay -= 1));
    };
    // On a slow network looks would pile up. Whoever asks now has made a change that a look under way may not know of.
    const endLooks = whileVisible(() => {
      if (underWay === 0) ask.current();
    }, ms);
    return () => {
      endLooks();
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
