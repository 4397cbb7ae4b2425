import { Refusal } from './refusal.ts';

/**
 * Bounds how many tasks run at once and how many wait, in the order in which they came.
 * One more is refused as `busy`. A task whose signal is aborted leaves the queue.
 */
export class Slots {
  readonly #running: number;
  readonly #waiting: number;
  readonly #queue: (() => void)[] = [];
  #taken = 0;

  constructor(options: { running: number; waiting: number }) {
    this.#running = options.running;
    this.#waiting = options.waiting;
  }

  get running(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Throws `busy` when the queue is full: before a body is read. */
  requireVacancy(): void {
    if (this.#taken >= this.#running && this.#queue.length >= this.#waiting) throw new Refusal('busy', undefined, RETRY_SECONDS);
  }

  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    this.requireVacancy();
    if (this.#taken < this.#running) this.#taken += 1;
    else await this.#turn(signal);
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      // The slot passes to the task that has waited longest.
      const next = this.#queue.shift();
      if (next) next();
      else this.#taken -= 1;
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(enter), 1);
        reject(signal.reason as Error);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      if (signal.aborted) return reject(signal.reason as Error);
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.push(enter);
    });
  }
}

const RETRY_SECONDS = 5;
