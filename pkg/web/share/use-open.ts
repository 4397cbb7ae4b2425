import { useEffect, useState } from 'preact/hooks';
import type { Link } from './link.ts';

/** Returns whether requests by the link are answered; false: its password has changed, or the session is over. */
export function useOpen({ isOpen }: Link): boolean {
  const [value, setValue] = useState(isOpen.value);
  useEffect(() => {
    const changed = (): void => setValue(isOpen.value);
    // It may have changed between the rendering and this effect.
    changed();
    return isOpen.subscribe(changed);
  }, [isOpen]);
  return value;
}
