import { useEffect, useState } from 'preact/hooks';
import type { Observed } from '../api/observed.ts';

/** Returns the value, and renders the component again when it changes. */
export function useObserved<T>(observed: Observed<T>): T {
  const [, render] = useState(0);
  const { value } = observed;
  useEffect(() => {
    const changed = (): void => render((count) => count + 1);
    // It may have changed between the rendering and this effect.
    if (!Object.is(observed.value, value)) changed();
    return observed.subscribe(changed);
  }, [observed]);
  return value;
}
