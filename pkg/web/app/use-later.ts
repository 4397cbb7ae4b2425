import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { problemOf } from '../api/problem.ts';
import { toasts } from '../design/toast.tsx';
import { textsLoaded } from '../text/language.ts';
import { problemText } from './problem-text.ts';

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
      const component = await load();
      await textsLoaded();
      setLoaded(() => component);
      return true;
    } catch (error) {
      toasts.show({ text: problemText(problemOf(error)), tone: 'danger' });
      return false;
    }
  };
  return [loaded, ask];
}
