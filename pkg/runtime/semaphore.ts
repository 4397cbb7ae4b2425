/** Bounds the number of tasks that run at once. Waiting tasks start in the order in which they arrived. */
export class Semaphore {
  readonly #permits: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(permits: number) {
    this.#permits = permits;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#permits) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      // The permit passes to the task that has waited longest.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
