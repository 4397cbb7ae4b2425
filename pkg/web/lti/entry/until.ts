const PAUSE_MS = 1_000;
/** How long a person is likely to watch: a later result is shown at the next visit. */
const TIMES = 60;

/** Asks once a second until the answer is done, and returns the last one. Rejects as `ask` does. */
export async function until<T>(ask: () => Promise<T>, isDone: (answer: T) => boolean): Promise<T> {
  let answer = await ask();
  for (let times = 1; times < TIMES && !isDone(answer); times += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    answer = await ask();
  }
  return answer;
}
