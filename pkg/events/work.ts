import type { Executor, Tx } from '../store/postgres/database.ts';
import { requestWork } from '../store/postgres/work.ts';
import type { WakeUps } from './wake-ups.ts';

/** Objects whose rows are gone, to be deleted from the tenant's bucket. */
export const PURGE_OBJECTS = 'objects.purge';
/** A day's objects, to be compared with the rows; what no row knows is deleted. */
export const SWEEP_OBJECTS = 'objects.sweep';
/** A grade, to be sent to the LMS. On a line of its own: an LMS may let us wait. */
export const SUBMIT_GRADE = 'grades.submit';

/** Keys in one request: a payload of about 25 KB. */
const KEYS_PER_REQUEST = 500;

/** Later work, asked for in the transaction that makes it necessary (design: section 7): it is done if, and only if, that commits. */
export class WorkRequests {
  readonly #wakeUps: WakeUps;

  constructor(deps: { wakeUps: WakeUps }) {
    this.#wakeUps = deps.wakeUps;
  }

  /** One statement for each 500 keys. */
  async purgeObjects(tx: Tx, keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += KEYS_PER_REQUEST) {
      await requestWork(tx, PURGE_OBJECTS, { keys: keys.slice(at, at + KEYS_PER_REQUEST) });
    }
    if (keys.length > 0) this.#wakeUps.after(tx);
  }

  /** One statement. `grade` is its uuid. */
  async submitGrade(tx: Tx, grade: string): Promise<void> {
    await requestWork(tx, SUBMIT_GRADE, { grade }, undefined, 'grades');
    this.#wakeUps.after(tx);
  }

  /** One statement. What no row knows among the objects of `day` (yyyymmdd) is deleted once `dueAt` has come. */
  async sweepObjects(sql: Executor, day: string, dueAt: Date): Promise<void> {
    await requestWork(sql, SWEEP_OBJECTS, { day }, dueAt);
  }
}
