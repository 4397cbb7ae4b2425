import { Observed } from '../../api/observed.ts';
import { onLeave } from '../leaving.ts';
import type { Batch } from './batch.ts';

interface Running {
  readonly batch: Batch;
  /** What it does, as the page says it. */
  readonly label: string;
}

/** What runs on the server for the files of this tab. It goes on while the person opens other pages, and ends when they leave. */
export const running = new Observed<Running | undefined>(undefined);

let stay = new AbortController();
onLeave(() => {
  stay.abort();
  stay = new AbortController();
  running.set(undefined);
});

/** Shows a batch, and returns the signal that ends it. */
export function begin(batch: Batch, label: string): AbortSignal {
  running.set({ batch, label });
  return stay.signal;
}

export function end(batch: Batch): void {
  if (running.value?.batch === batch) running.set(undefined);
}
