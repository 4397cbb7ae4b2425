const PARTS = 4;

/**
 * Calls `act` once after `ms`, unless the returned function is called first. A process may stand still meanwhile (a long
 * computation, a machine without time for it). It then loses at most a part of the time, and has read the data that arrived by
 * then: due timers run before data is read.
 */
export function afterAwake(ms: number, act: () => void): () => void {
  let timer: NodeJS.Timeout;
  let isCanceled = false;
  const wait = (parts: number): void => {
    timer = setTimeout(() => (parts > 1 ? wait(parts - 1) : setImmediate(end)), ms / PARTS);
  };
  const end = (): void => {
    if (!isCanceled) act();
  };
  wait(PARTS);
  return () => {
    isCanceled = true;
    clearTimeout(timer);
  };
}
