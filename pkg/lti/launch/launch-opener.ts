import { Batcher } from '../../runtime/batcher.ts';
import type { Database } from '../../store/postgres/database.ts';
import { isNotCommitted } from '../../store/postgres/errors.ts';
import { type Found, type NewLaunch, openAlone, openTogether } from './launch.sql.ts';

/**
 * Opens launches that change nothing. Those that arrive while one statement runs share the next, so a class that launches at once
 * costs few round trips and commits.
 *
 * Invariants:
 * - A launch and its session are inserted together or not at all.
 * - No launch fails because of another's values, nor waits for another's user: a launch that the shared statement does not decide
 *   gets a statement of its own.
 */
export class LaunchOpener {
  readonly #db: Database;
  readonly #batcher = new Batcher<NewLaunch, Found | undefined>((launches) => this.#together(launches));

  constructor(deps: { db: Database }) {
    this.#db = deps.db;
  }

  /** Returns undefined if the registration was deleted. Throws ForeignKeyViolation if it is deleted meanwhile. */
  async open(launch: NewLaunch): Promise<Found | undefined> {
    return (await this.#batcher.submit(launch)) ?? openAlone(this.#db.tables, launch);
  }

  async #together(launches: readonly NewLaunch[]): Promise<(Found | undefined)[]> {
    try {
      return await openTogether(this.#db.tables, launches);
    } catch (error) {
      if (!isNotCommitted(error)) throw error;
      return launches.map(() => undefined);
    }
  }
}
