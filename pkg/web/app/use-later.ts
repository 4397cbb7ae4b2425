import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { textsLoaded } from '../text/language.ts';
import { failureToast } from './failure-toast.ts';

/** Loads a script that the first view has no room for, with its texts. Throws if that fails. */
export async function loadedLater<T>(load: () => Promise<T>): Promise<T> {
  const loaded = await load();
  await textsLoaded();
  return loaded;
}

/**
 * A component whose script is loaded when somebody asks for it, because the first view has no room for it. The returned function
 * loads it with its texts; if that fails, it says so and resolves to false.
 */
export function useLater<Props>(
  load: () => Promise<ComponentType<Props>>,
): readonly [ComponentType<Props> | undefined, () => Promise<boolean>] {
  const [loaded, setLoaded] = useState<ComponentType<Props>>();
  const ask = async (): Promise<boolean> => {
    try {
      const component = await loadedLater(load);
      setLoaded(() => component);
      return true;
    } catch (error) {
      failureToast(error);
      return false;
    }
  };
  return [loaded, ask];
}
