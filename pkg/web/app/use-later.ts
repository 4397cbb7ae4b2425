import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { isAnswering } from '../api/ping.ts';
import { unreachable } from '../api/problem.ts';
import { textsLoaded } from '../text/language.ts';
import { failureToast } from './failure-toast.ts';
import { stylesLoaded } from './late-styles.ts';

/**
 * Loads a script that the first view has no room for, with its texts. Throws `unreachable` if no server answers. Throws something
 * else if one does: the script has a fault, or its build has been replaced, and the document has to be loaded anew.
 */
export async function loadedLater<T>(load: () => Promise<T>): Promise<T> {
  const fetched = async (): Promise<T> => {
    await stylesLoaded();
    return load();
  };
  const loaded = await fetched().catch(async (error: unknown) => {
    if (!(await isAnswering())) throw unreachable(error);
    // The connection may have been gone for a moment.
    return fetched();
  });
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
