import { useEffect, useState } from 'preact/hooks';
import type { Uploader } from './uploader.ts';

/** Renders the calling component again when the list of uploads has changed. */
export function useChanges(uploader: Uploader): void {
  const [, render] = useState(0);
  useEffect(() => {
    // It may have changed between the rendering and this effect.
    render((count) => count + 1);
    return uploader.subscribe(() => render((count) => count + 1));
  }, [uploader]);
}
