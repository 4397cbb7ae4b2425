const PAUSE_MS = 1_000;
/** For as long as a person watches: what takes longer is seen at the next visit. */
const TIMES = 60;

/** Asks once a second until the answer is the one that is waited for, and gives the last one. Rejects as `ask` does. */
export async function until<T>(ask: () => Promise<T>, isDone: (answer: T) => boolean): Promise<T> {
  let answer = await ask();
  for (let times = 1; times < TIMES && !isDone(answer); times += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    answer = await ask();
  }
  return answer;
}
