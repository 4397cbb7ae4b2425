import { useLayoutEffect } from 'preact/hooks';

/** Lists that are shown and have no rows yet. */
const missing = new Set<object>();
let done: () => void;

/** Resolves when the first view is complete: the list of files is there, or the page has none. What comes later waits for it. */
export const firstView = new Promise<void>((resolve) => {
  done = resolve;
});

/** For pages, what stands for one, and a list on them: `isThere` is false until the list shows rows or why it has none. */
export function useFirstView(isThere = true): void {
  useLayoutEffect(() => {
    if (isThere) {
      // Effects of what is within a page come before its own.
      if (missing.size === 0) done();
      return undefined;
    }
    const list = {};
    missing.add(list);
    return () => void missing.delete(list);
  }, [isThere]);
}
