type Ending = { stopPlatform?: () => Promise<void> };
type OfLane = { readonly context: { readonly config: { readonly displayName?: { readonly name: string } } } };

/** The number of files of each lane that have not ended yet. */
const left = new Map<string, number>();
const laneOf = ({ context }: OfLane): string => context.config.displayName?.name ?? '';

/** Counts the files of a run, before the first of them begins. */
export function beginLanes(tests: readonly OfLane[]): void {
  left.clear();
  for (const test of tests) left.set(laneOf(test), (left.get(laneOf(test)) ?? 0) + 1);
}

/** Records that a file has ended. Returns true when it was the last one of its lane. */
export function fileEnded(test: OfLane): boolean {
  const rest = (left.get(laneOf(test)) ?? 0) - 1;
  left.set(laneOf(test), rest);
  return rest === 0;
}

/**
 * Jest's reporter that stops the platform of the e2e lane (test/support/e2e-setup.mjs) when the last of its files has ended,
 * while the other lanes go on: an idle platform takes a fifteenth of a CPU. globalTeardown waits for the same end, and reports it
 * where it fails.
 */
export default class EndOfLanes {
  onTestResult(test: OfLane): void {
    if (fileEnded(test) && laneOf(test) === 'e2e') void (globalThis as Ending).stopPlatform?.().catch(() => undefined);
  }
}
