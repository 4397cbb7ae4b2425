import { type ComponentType, createContext } from 'preact';
import { useContext, useLayoutEffect, useState } from 'preact/hooks';

interface Props {
  /** It says what happens. Those below are silent: nothing outside of the topmost modal dialog is read, and no button works. */
  readonly isTopmost: boolean;
}

/** Where a page says what has happened: its live region, its toasts. A document of pages provides it once, around everything. */
export const StatusContext = createContext<ComponentType<Props> | undefined>(undefined);

/** One for each that is shown, the topmost last. */
const layers = new Set<object>();
const readers = new Set<() => void>();
const changed = (): void => readers.forEach((read) => read());

/** Says what has happened, once at the end of a page, and once in each modal dialog: one that is open makes the page inert. */
export function Status() {
  const Area = useContext(StatusContext);
  const [isTopmost, setTopmost] = useState(false);
  useLayoutEffect(() => {
    const layer = {};
    const read = (): void => setTopmost([...layers].at(-1) === layer);
    layers.add(layer);
    readers.add(read);
    changed();
    return () => {
      layers.delete(layer);
      readers.delete(read);
      changed();
    };
  }, []);
  return Area ? <Area isTopmost={isTopmost} /> : null;
}
