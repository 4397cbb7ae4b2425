import type { EventName } from '../../pkg/events/catalogue.ts';

/** An event that must come, by its name and what its `data` hold. `lists`: what the list `changes` of `data` holds. */
export interface AwaitedEvent {
  readonly event: EventName;
  readonly data: Readonly<Record<string, unknown>>;
  readonly lists?: string;
}

/** Records the changes that clients requested, and how each ended. */
export class ChangeLog {
  readonly wanted: number;
  /** The event of each change that the server has acknowledged. */
  readonly acknowledged: AwaitedEvent[] = [];
  /** Changes that were made, or not: the answer was lost, and a repetition says only how things stand. */
  lost = 0;
  /** Requests that were answered 5xx or not at all, and sent again. */
  retries = 0;
  slowestMs = 0;
  #begun = 0;
  #isAbandoned = false;

  constructor(wanted: number) {
    this.wanted = wanted;
  }

  /** Something has failed: nobody begins or goes on with anything. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** False: as many as are wanted have begun. */
  begin(): boolean {
    if (this.#isAbandoned || this.#begun === this.wanted) return false;
    this.#begun += 1;
    return true;
  }

  get ended(): number {
    return this.acknowledged.length + this.lost;
  }
}
