/** Every wait of a test has a limit and a sentence that says what did not come. */
export const WAIT_LIMIT_MS = 150_000;
/** Between two looks: most of what a test waits for is there within milliseconds. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;

/**
 * Asks again until `condition` gives something (not undefined, not false), and gives that back.
 * Throws after `limitMs`, naming `what` and the last failure.
 */
export async function waitFor<T>(
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = WAIT_LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  let failure: unknown;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const found = await condition();
      failure = undefined;
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${limitMs} ms${reasonOf(failure)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** In the message itself: the last lines of a run show no causes. */
const reasonOf = (failure: unknown): string =>
  failure === undefined ? '' : `: ${failure instanceof Error ? failure.message : JSON.stringify(failure)}`;

/** Gives what `work` gives, for what has no limit of its own. Throws after `limitMs`, naming `what`. */
export async function within<T>(what: string, work: Promise<T>, limitMs = WAIT_LIMIT_MS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Retries as a client does: a request that the server refuses because it is too busy (waits for a connection or a lock are
 * bounded) had no effect, and comes again a little later, so that retries do not keep the server busy. Returns the last refusal
 * after WAIT_LIMIT_MS.
 */
export async function untilServed<T extends { readonly status: number; readonly headers: Readonly<Record<string, unknown>> }>(
  ask: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    const reply = await ask();
    if (reply.status !== 503 || reply.headers['retry-after'] === undefined || performance.now() > deadline) return reply;
    // The pause of a polite client: there is no condition but the next reply.
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** 0, 1, … count − 1 */
export const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Counts how often each value of a field occurs. */
export function countBy<T>(items: readonly T[], field: (item: T) => string | number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[field(item)] = (counts[field(item)] ?? 0) + 1;
  return counts;
}

/** Does `work` for all items, at most `width` at once. Rejects with the first failure. */
export async function inParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  await Promise.all(
    range(width).map(async () => {
      for (const item of left) await work(item);
    }),
  );
}
