import type { Frame, Page } from 'playwright-core';
import { waitFor } from '../wait.ts';

/** A layout follows a new width within a frame or two; a busy machine takes longer. */
const LAYOUT_MS = 20_000;
const BEYOND = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Waits until nothing of a page or frame is beyond its side. */
export async function fits(shown: Page | Frame): Promise<void> {
  await waitFor(
    'nothing to be cut off at the side',
    async () => {
      const pixels = await shown.evaluate<number>(BEYOND);
      if (pixels > 0) throw new Error(`${pixels} pixels are beyond the side`);
      return true;
    },
    LAYOUT_MS,
  );
}
