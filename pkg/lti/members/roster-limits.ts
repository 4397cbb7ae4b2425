import type { OperationLimits } from '../services/lms-calls.ts';
import { unusable } from '../services/lms-problems.policy.ts';

/** Limits of a whole roster. Each page is in memory as a whole. */
export const ROSTER_LIMITS: OperationLimits = { operationMs: 10 * 60_000, requestMs: 30_000, replyBytes: 4 * 1024 * 1024 };
export const PAGES_MAX = 5_000;
/** Twice the size of a large course. */
const MEMBERS_MAX = 200_000;
/** Maximum size of all entries, as they are stored until the import. */
const BYTES_MAX = 256 * 1024 * 1024;
/** Maximum of consecutive pages without a new person: the LMS sends pages without end, or the same people repeatedly. */
const BARREN_PAGES_MAX = 20;
/** Maximum of entries that are named as left out. */
export const SKIPPED_MAX = MEMBERS_MAX;

/** Counts how much of a roster was read. */
export class RosterBounds {
  #members = 0;
  #bytes = 0;
  #barren = 0;

  get isEmpty(): boolean {
    return this.#members === 0;
  }

  /** Counts a page: people that no earlier page named, and its bytes. Throws Problem `lms_failed`. */
  count(added: number, bytes: number): void {
    this.#members += added;
    this.#bytes += bytes;
    this.#barren = added === 0 ? this.#barren + 1 : 0;
    if (this.#members > MEMBERS_MAX) throw unusable(`its list has more than ${MEMBERS_MAX} members`);
    if (this.#bytes > BYTES_MAX) throw unusable(`its list of members is larger than ${BYTES_MAX} bytes`);
    if (this.#barren === BARREN_PAGES_MAX)
      throw unusable(`${BARREN_PAGES_MAX} consecutive pages of its list of members name no new person`);
  }
}
