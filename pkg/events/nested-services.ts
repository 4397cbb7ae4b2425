import type { Database, Tx } from '../store/postgres/database.ts';
import { inSavepoint } from '../store/postgres/savepoint.ts';
import { UncommittedCache } from '../store/redis/uncommitted-cache.ts';
import type { BufferedEvents } from './events.ts';
import type { JobContext, WorkerServices } from './processor.ts';

/**
 * Services for many calls within one step of a job to services written for endpoints. Each call takes effect whole or not at all,
 * and their events are written once per step.
 */
export class NestedServices {
  readonly db: Database;
  readonly cache: UncommittedCache;
  readonly events: BufferedEvents;
  readonly #tx: Tx;

  constructor(services: WorkerServices, { db, cache }: Pick<JobContext, 'db' | 'cache'>, tx: Tx) {
    this.#tx = tx;
    this.db = db.within(tx);
    this.cache = new UncommittedCache(cache, services);
    this.events = services.events.buffered();
  }

  /** Runs `fn` in a savepoint: if it throws, or if `undone` is set, its rows and events are undone. */
  async call<T>(fn: () => Promise<T>, { undone }: { undone: boolean }): Promise<T> {
    const before = this.events.count;
    const ended: { readonly result: T }[] = [];
    try {
      return await inSavepoint(this.#tx, async () => {
        const result = await fn();
        ended.push({ result });
        if (undone) throw new Undone();
        return result;
      });
    } catch (error) {
      this.events.dropAfter(before);
      const [end] = ended;
      if (error instanceof Undone && end) return end.result;
      throw error;
    }
  }

  /** Writes the events. Call this before the step ends. */
  flush(): Promise<void> {
    return this.events.flush(this.#tx);
  }
}

class Undone extends Error {
  override readonly name = 'Undone';
}
