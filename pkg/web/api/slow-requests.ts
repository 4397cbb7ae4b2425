import { Observed } from './observed.ts';

/** After this time people want to know why nothing comes. */
const READ_MS = 4_000;
/** A change has work to do, and the form that sent it shows that it runs. */
const CHANGE_MS = 8_000;
/** So long it is still slow after the last slow request has ended: one follows the other, and the note must not flicker. */
const LINGER_MS = 700;

/** Calls a function after this time; returns the function that prevents it. */
type After = (ms: number, act: () => void) => () => void;

const afterTimeout: After = (ms, act) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

const quiet = new WeakSet<AbortSignal>();

/** Marks the signal of requests that nobody waits for, such as looks at what is new. Returns it. */
export function inBackground(signal: AbortSignal): AbortSignal {
  quiet.add(signal);
  return signal;
}

interface Waited {
  readonly signal?: AbortSignal | undefined;
  /** Their names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Nobody waits for a look at what has changed, or for the next event of a stream. */
export const isWaitedFor = ({ signal, headers = {} }: Waited): boolean =>
  !(signal && quiet.has(signal)) && headers['if-none-match'] === undefined && headers['accept'] !== 'text/event-stream';

/** Knows whether a request has been waiting for its reply for longer than people expect. */
export class SlowRequests {
  readonly isSlow = new Observed(false);
  readonly #after: After;
  #late = 0;
  #stay: (() => void) | undefined;

  constructor(after: After = afterTimeout) {
    this.#after = after;
  }

  /** A request has been sent. Returns the function to call when its reply has come, or none will. */
  begin(kind: 'read' | 'change'): () => void {
    let isLate = false;
    const cancel = this.#after(kind === 'read' ? READ_MS : CHANGE_MS, () => {
      isLate = true;
      this.#late += 1;
      this.#stay?.();
      this.isSlow.set(true);
    });
    return () => {
      cancel();
      if (!isLate) return;
      isLate = false;
      this.#late -= 1;
      if (this.#late === 0) this.#stay = this.#after(LINGER_MS, () => this.isSlow.set(false));
    };
  }
}
