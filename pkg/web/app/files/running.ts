import { Observed } from '../../api/observed.ts';
import { onLeave } from '../leaving.ts';
import type { Work } from './batch.ts';

interface Running {
  readonly work: Work;
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

/** Returns the signal that is aborted when the person signs out. */
export const untilSignOut = (): AbortSignal => stay.signal;

/** Shows it, and returns the signal that ends it. */
export function begin(work: Work, label: string): AbortSignal {
  running.set({ work, label });
  return untilSignOut();
}

export function end(work: Work): void {
  if (running.value?.work === work) running.set(undefined);
}
