import { useEffect, useState } from 'preact/hooks';

/** Says whether a media query holds, and follows it: for what a style alone cannot decide. */
export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const changed = (): void => setHolds(list.matches);
    changed();
    list.addEventListener('change', changed);
    return () => list.removeEventListener('change', changed);
  }, [query]);
  return holds;
}

/** A phone, or a window as narrow as one, or a wide one at 400 % zoom. */
export const NARROW = '(max-width: 40rem)';
