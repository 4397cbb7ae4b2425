const PARTS = 4;

/**
 * Calls `act` once after `ms`, unless the result is called first. A process that stands still meanwhile (a long computation, a
 * machine without time for it) loses a part of the time at most, and has read what came by then: timers that are due run before
 * what came is read.
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
