import { useEffect, useRef } from 'preact/hooks';

/** Calls `act` as soon as the browser has a connection again, while `problem` is that the service cannot be reached. */
export function useWhenOnline(problem: { readonly code: string } | undefined, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  const isAway = problem?.code === 'unreachable';
  useEffect(() => {
    if (!isAway) return undefined;
    const online = (): void => latest.current();
    addEventListener('online', online);
    return () => removeEventListener('online', online);
  }, [isAway]);
}
