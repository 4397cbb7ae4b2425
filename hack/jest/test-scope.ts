type End = () => Promise<unknown>;

/** The runner of the tests and what they import share this module (native-modules.mjs). */
let ends: End[] | undefined;

/** Ends something when the running test ends, after its hooks. What is made outside of tests, as in `beforeAll`, stays. */
export function atEndOfTest(end: End): void {
  ends?.push(end);
}

export function beginTest(): void {
  ends = [];
}

/** Something that has ended by itself, or that cannot be ended, fails no test. */
export async function endTest(): Promise<void> {
  const all = ends ?? [];
  ends = undefined;
  await Promise.allSettled(all.map((end) => end()));
}
