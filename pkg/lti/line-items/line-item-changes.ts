import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { beginChange, dropChange, type LineItemChange } from './line-item-changes.sql.ts';

/** So long is it tried to record what the LMS has done while Postgres is unavailable. */
const RECORD_MS = 10_000;
const RETRY_MS = 250;
const NOT_RECORDED = 'The LMS has done what it was asked, and it could not be recorded here: look before you try again.';

/**
 * Changes of line items, which the LMS makes and of which the audit log has an entry.
 *
 * Invariants:
 * - The LMS is asked for nothing that is not stored here before.
 * - What is stored goes with the one entry, or because the LMS did not do it. What nobody ends gets its entry by a schedule
 *   (overdue-changes.ts).
 */
export class LineItemChanges {
  readonly #db: Database;
  readonly #random: Random;
  readonly #clock: Clock;

  constructor(deps: { db: Database; random: Random; clock: Clock }) {
    this.#db = deps.db;
    this.#random = deps.random;
    this.#clock = deps.clock;
  }

  /**
   * Stores the change and asks the LMS for it. Gives its answer, and the key by which the change is ended. Throws what `ask`
   * throws.
   */
  async ask<T>(change: LineItemChange, ask: () => Promise<T>): Promise<{ key: string; answer: T }> {
    const key = this.#random.uuid();
    try {
      await beginChange(this.#db.tables, key, change);
      return { key, answer: await ask() };
    } catch (error) {
      // Where this fails too, the entry will say that the outcome is unknown.
      await dropChange(this.#db.tables, key).catch((failure: unknown) => {
        if (!(failure instanceof StoreUnavailableError)) throw failure;
      });
      throw error;
    }
  }

  /**
   * After the LMS has made a change. Throws Problem `lms_failed`, not 503: a request that is sent again would make the change
   * once more.
   */
  async record<T>(record: () => Promise<T>): Promise<T> {
    const deadline = this.#clock.monotonic() + RECORD_MS;
    for (;;) {
      try {
        return await record();
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        if (this.#clock.monotonic() > deadline) throw new Problem('lms_failed', NOT_RECORDED, { cause: error });
      }
      await this.#clock.sleep(RETRY_MS);
    }
  }
}
