import type { Logger } from '../../runtime/log.ts';
import type { Database } from '../../store/postgres/database.ts';
import { asSystem } from '../../store/postgres/origin.ts';
import { SYNC_ROSTER } from '../../tasks/roster-tasks.ts';
import type { TaskRequests } from '../../tasks/task-requests.ts';
import type { NewLaunch } from '../launch/launch.sql.ts';
import { isRosterOld } from './roster-age.sql.ts';

const ASK = `
  UPDATE groups g SET roster_asked_at = $3 WHERE g.platform_id = $1 AND g.context_id = $2 AND ${isRosterOld('$3::timestamptz')}
    RETURNING g.uuid`;

/** Requests rosters for launches: at most once a day per course, even if several people launch at once. */
export class RosterRequests {
  readonly #db: Database;
  readonly #tasks: TaskRequests;
  readonly #log: Logger;

  constructor(deps: { db: Database; tasks: TaskRequests; log: Logger }) {
    this.#db = deps.db;
    this.#tasks = deps.tasks;
    this.#log = deps.log;
  }

  /**
   * Does not throw: the launch does not depend on it, and the next one asks again. Four statements; only one if another launch
   * has just asked.
   */
  async request({ registration: { platformId }, message: { context }, launchedAt }: NewLaunch): Promise<void> {
    try {
      await asSystem(() =>
        this.#db.transaction(async (tx) => {
          const [course] = await tx.query<{ uuid: string }>(ASK, [platformId, context?.id, launchedAt]);
          if (course) await this.#tasks.requestOwn(tx, SYNC_ROSTER, { arguments: { context: course.uuid } });
        }),
      );
    } catch (error) {
      this.#log.warn({ err: error }, 'could not request the roster of a course');
    }
  }
}
