import { Refusal } from './refusal.ts';

interface Waiting {
  readonly enter: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** The tasks of one requester, such as a tenant; deleted when it has none. */
interface Line {
  running: number;
  readonly waiting: Waiting[];
}

/**
 * Bounds how many tasks run at once and how many wait, fairly among their requesters. A free slot goes to the requester with the
 * fewest running tasks; among these to the one that has waited longest for a turn, and to its first task.
 *
 * When no more tasks may wait, a task of a requester with fewer waiting replaces the last task of the requester with the most;
 * otherwise it is itself refused as `busy`. A task whose signal is aborted stops waiting.
 */
export class Slots {
  readonly #mostRunning: number;
  readonly #mostWaiting: number;
  /** A requester moves to the end when it takes or ends a turn. */
  readonly #lines = new Map<string, Line>();

  constructor(options: { running: number; waiting: number }) {
    this.#mostRunning = options.running;
    this.#mostWaiting = options.waiting;
  }

  get running(): number {
    return [...this.#lines.values()].reduce((sum, { running }) => sum + running, 0);
  }

  get waiting(): number {
    return [...this.#lines.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /** Throws `busy` if there is no room for one more task of `whose`. Called before a body is read. */
  requireVacancy(whose: string): void {
    if (this.running < this.#mostRunning || this.waiting < this.#mostWaiting) return;
    if (this.#longerThan(whose) === undefined) throw busy();
  }

  async run<T>(whose: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    this.requireVacancy(whose);
    signal.throwIfAborted();
    if (this.running < this.#mostRunning) this.#take(whose);
    else await this.#turn(whose, signal);
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      this.#give(whose);
    }
  }

  #turn(whose: string, signal: AbortSignal): Promise<void> {
    if (this.waiting >= this.#mostWaiting) this.#longerThan(whose)?.waiting.pop()?.refuse(busy());
    return new Promise((resolve, reject) => {
      const { waiting } = this.#lineOf(whose);
      const leave = (): void => {
        waiting.splice(waiting.indexOf(entry), 1);
        this.#forget(whose);
        reject(signal.reason as Error);
      };
      const entry: Waiting = {
        enter: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
        refuse: (reason) => {
          signal.removeEventListener('abort', leave);
          reject(reason as Error);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(entry);
    });
  }

  #take(whose: string): void {
    this.#toEnd(whose).running += 1;
  }

  #give(whose: string): void {
    this.#toEnd(whose).running -= 1;
    const [next] = [...this.#lines]
      .filter(([, { waiting }]) => waiting.length > 0)
      .toSorted(([, a], [, b]) => a.running - b.running);
    const entry = next?.[1].waiting.shift();
    if (next && entry) {
      this.#take(next[0]);
      entry.enter();
    }
    this.#forget(whose);
  }

  /** Returns the longest queue, if it would still be longer than that of `whose` after one task of the former is replaced. */
  #longerThan(whose: string): Line | undefined {
    const own = this.#lines.get(whose)?.waiting.length ?? 0;
    const [longest] = [...this.#lines.values()].toSorted((a, b) => b.waiting.length - a.waiting.length);
    return longest && longest.waiting.length > own + 1 ? longest : undefined;
  }

  #lineOf(whose: string): Line {
    const known = this.#lines.get(whose);
    if (known) return known;
    const line: Line = { running: 0, waiting: [] };
    this.#lines.set(whose, line);
    return line;
  }

  #toEnd(whose: string): Line {
    const line = this.#lineOf(whose);
    this.#lines.delete(whose);
    this.#lines.set(whose, line);
    return line;
  }

  #forget(whose: string): void {
    const line = this.#lines.get(whose);
    if (line?.running === 0 && line.waiting.length === 0) this.#lines.delete(whose);
  }
}

const RETRY_SECONDS = 5;
const busy = (): Refusal => new Refusal('busy', undefined, RETRY_SECONDS);
