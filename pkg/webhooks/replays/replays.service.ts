import type { Actor } from '../../api/actor.ts';
import { invalid, Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import { EVENT_RETENTION_DAYS } from '../../events/retention.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { TaskRequests } from '../../tasks/task-requests.ts';
import type { TaskView } from '../../tasks/tasks.schema.ts';
import { type NewReplay, statesOf } from '../deliveries.schema.ts';
import { requireActive } from '../deliveries.policy.ts';
import { REPLAY } from './replay-task.ts';
import { DAY_MS } from '../../runtime/time.ts';

const RETENTION_MS = EVENT_RETENTION_DAYS * DAY_MS;

/** Requests replays of ranges as jobs; replay.processor.ts does them. */
export class Replays {
  readonly #db: Database;
  readonly #tasks: TaskRequests;
  readonly #clock: Clock;

  constructor(deps: { db: Database; tasks: TaskRequests; clock: Clock }) {
    this.#db = deps.db;
    this.#tasks = deps.tasks;
    this.#clock = deps.clock;
  }

  /**
   * Runs seven statements. A missing or future end means now. Throws `not_found`, and `conflict` if the webhook is not active or
   * the person has too many jobs. Throws `validation_failed` for an empty range, or one that begins before the oldest existing
   * deliveries.
   */
  async request(actor: Actor, webhook: Uuid, { since, status, ...range }: NewReplay): Promise<TaskView> {
    const now = this.#clock.now();
    const asked = range.until !== undefined && new Date(range.until) < now ? range.until : now.toISOString();
    if (new Date(since) >= new Date(asked)) throw invalid('since', 'must be before until');
    if (new Date(since).getTime() < now.getTime() - RETENTION_MS)
      throw invalid('since', `must be within the last ${EVENT_RETENTION_DAYS} days: older deliveries are deleted`);
    return this.#db.transaction(async (tx) => {
      const row = await tx.webhooks.find({ uuid: webhook });
      if (!row) throw new Problem('not_found');
      requireActive(row);
      const until = await notAhead(tx, asked);
      return this.#tasks.request(tx, REPLAY, actor.userId, {
        arguments: { webhook, since, until, states: statesOf(status) },
        result: { webhook_id: webhook, since, until },
      });
    });
  }
}

/**
 * Returns the earlier of the given time and now by Postgres' clock, which dates deliveries. The server's clock may be ahead. Then
 * new deliveries of the replay would lie in its own range, and would be sent again once they have ended.
 */
export async function notAhead(tx: Sql, at: string): Promise<string> {
  const [row] = await tx.query<{ at: Date }>('SELECT least($1::timestamptz, now()::timestamptz(3)) AS at', [at]);
  return row?.at.toISOString() ?? at;
}
