import type { Context } from '@opentelemetry/api';
import { activeContext, resume } from './traces.ts';

/** The most items in one call. */
const MAX_BATCH = 200;

interface Pending<Item, Result> {
  readonly item: Item;
  readonly result: PromiseWithResolvers<Result>;
  readonly trace: Context | undefined;
}

/**
 * Turns many single calls into few batched calls. Items that are submitted in the same turn of the event loop go together. Items
 * that are submitted while `atOnce` calls are running go with the next one. A busy caller makes few large calls, and an idle one
 * does not wait. When tracing is on, a call belongs to the trace of its first item.
 */
export class Batcher<Item, Result> {
  readonly #call: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #atOnce: number;
  #pending: Pending<Item, Result>[] = [];
  #running = 0;
  #isScheduled = false;

  /** `call` returns one result for each item, in their order. When it throws, each of its items rejects with that error. */
  constructor(call: (items: readonly Item[]) => Promise<readonly Result[]>, { atOnce = 1 }: { readonly atOnce?: number } = {}) {
    this.#call = call;
    this.#atOnce = atOnce;
  }

  submit(item: Item): Promise<Result> {
    const result = Promise.withResolvers<Result>();
    this.#pending.push({ item, result, trace: activeContext() });
    if (!this.#isScheduled && this.#running < this.#atOnce) {
      this.#isScheduled = true;
      setImmediate(() => void this.#run());
    }
    return result.promise;
  }

  async #run(): Promise<void> {
    this.#isScheduled = false;
    this.#running += 1;
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, MAX_BATCH);
      try {
        const items = batch.map(({ item }) => item);
        const trace = batch[0]?.trace;
        const results = await (trace ? resume(trace, () => this.#call(items)) : this.#call(items));
        batch.forEach(({ result }, at) => result.resolve(results[at] as Result));
      } catch (error) {
        for (const { result } of batch) result.reject(error);
      }
    }
    this.#running -= 1;
  }
}
