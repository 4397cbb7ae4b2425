/** Runs `work` once; concurrent callers wait for the same run. A failed run is retried by the next caller. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    const run = (running ??= work());
    run.catch(() => {
      if (running === run) running = undefined;
    });
    return run;
  };
}
