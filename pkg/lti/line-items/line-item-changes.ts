import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { beginChange, dropChange, type LineItemChange } from './line-item-changes.sql.ts';

/** How long the LMS's change is retried to be recorded while Postgres is unavailable. */
const RECORD_MS = 10_000;
const RETRY_MS = 250;
const NOT_RECORDED = 'The LMS has made the change, but it could not be recorded here. Check the LMS before you try again.';

/**
 * Changes of line items, which the LMS makes and the audit log records.
 *
 * Invariants:
 * - The LMS is asked for nothing that was not stored here first.
 * - What is stored is deleted with its one entry, or because the LMS did not make the change. A schedule writes the entry for
 *   changes that nobody ended (overdue-changes.ts).
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
   * Stores the change and asks the LMS for it. Returns its answer, and the key by which the change is ended. Throws what `ask`
   * throws.
   */
  async ask<T>(change: LineItemChange, ask: () => Promise<T>): Promise<{ key: string; answer: T }> {
    const key = this.#random.uuid();
    try {
      await beginChange(this.#db.tables, key, change);
      return { key, answer: await ask() };
    } catch (error) {
      // If this fails too, the entry will say that the outcome is unknown.
      await dropChange(this.#db.tables, key).catch((failure: unknown) => {
        if (!(failure instanceof StoreUnavailableError)) throw failure;
      });
      throw error;
    }
  }

  /**
   * Runs `record` after the LMS has made a change. Throws Problem `lms_failed`, not 503: a client that repeats the request would
   * make the change twice.
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
