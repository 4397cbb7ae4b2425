import { useEffect, useState } from 'preact/hooks';

/** A folder below that of the link. */
export interface Step {
  readonly id: string;
  readonly name: string;
}

type Path = readonly Step[];

const stored = (): Path => (history.state as { path?: Path } | null)?.path ?? [];

/**
 * The way from the folder of the link to the one that is shown. It is in the browser's history, not in the address: the API names
 * no folder above another, and so an address could not either. Back and a reload find it there.
 */
export function usePath(): readonly [path: Path, go: (to: Path) => void] {
  const [path, setPath] = useState(stored);
  useEffect(() => {
    const follow = (): void => setPath(stored());
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);
  const go = (to: Path): void => {
    history.pushState({ path: to }, '');
    setPath(to);
    scrollTo({ top: 0 });
  };
  return [path, go];
}
