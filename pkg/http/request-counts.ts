import { atMost } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../runtime/time.ts';
import type { Sql } from '../store/postgres/pool.ts';

const OUTCOMES = ['succeeded', 'refused', 'failed'] as const;
type Outcome = (typeof OUTCOMES)[number];
type Counts = Record<Outcome, number>;

/** The hours whose counts wait while the database cannot be written: a week. Of a longer time the oldest hours are dropped. */
export const HOURS_MAX = 7 * 24;
/** When the server stops, the time for what is left to be added. */
export const LAST_ADDITION_MS = 3 * SECOND_MS;

/** The owner's quota is the cause, so it is no failure of the server. */
const INSUFFICIENT_STORAGE = 507;

/** Each addition also deletes hours that nothing shows any longer, so that no schedule has to look at idle tenants. */
const ADD = `
  WITH expired AS (DELETE FROM request_counts WHERE hour < now() - interval '90 days')
  INSERT INTO request_counts AS c (hour, succeeded, refused, failed)
  SELECT * FROM unnest($1::timestamptz[], $2::bigint[], $3::bigint[], $4::bigint[])
  ON CONFLICT (hour) DO UPDATE SET succeeded = c.succeeded + excluded.succeeded, refused = c.refused + excluded.refused,
    failed = c.failed + excluded.failed`;

/**
 * Counts the answered requests of one server by hour and outcome, and adds them to the tenant's table.
 *
 * Invariants:
 * - No request costs a statement: the counts of a minute are one, and there is none while nothing is asked.
 * - Servers of one tenant add up.
 * - What cannot be added is added later, with what came since, and `close` adds the rest.
 *
 * Not promised: a server that is killed loses what came since the last addition, a minute at most while the database can be
 * written. Where the answer of the database is lost, the counts of that addition may be there twice.
 */
export class RequestCounts {
  readonly #db: Sql;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #everyMs: number;
  /** What has not been added, by the beginning of the hour (ms). */
  #waiting = new Map<number, Counts>();
  #cancelNext: (() => void) | undefined;
  #adding: Promise<void> | undefined;
  #isClosed = false;
  /** The log says once that the database cannot be written. */
  #isFailing = false;

  constructor({ db, clock, log }: { db: Sql; clock: Clock; log: Logger }, everyMs = MINUTE_MS) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#everyMs = everyMs;
  }

  /** Counts a request that was answered with this status. */
  count(status: number): void {
    const hour = Math.floor(this.#clock.now().getTime() / HOUR_MS) * HOUR_MS;
    this.#of(hour)[outcomeOf(status)] += 1;
    this.#planNext();
  }

  /** Adds what is left, within LAST_ADDITION_MS. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelNext?.();
    let isDone = false;
    const last = async (): Promise<void> => {
      await this.#adding;
      await this.#add();
      isDone = this.#waiting.size === 0;
    };
    await atMost(this.#clock, LAST_ADDITION_MS, last());
    if (!isDone) this.#log.warn('the last counts of requests could not be added and are lost');
  }

  #of(hour: number): Counts {
    const known = this.#waiting.get(hour);
    if (known) return known;
    const counts: Counts = { succeeded: 0, refused: 0, failed: 0 };
    this.#waiting.set(hour, counts);
    return counts;
  }

  #planNext(): void {
    if (this.#cancelNext || this.#adding || this.#isClosed || this.#waiting.size === 0) return;
    this.#cancelNext = this.#clock.schedule(this.#everyMs, () => {
      this.#cancelNext = undefined;
      this.#adding = this.#add().finally(() => {
        this.#adding = undefined;
        this.#planNext();
      });
    });
  }

  /** Never rejects. */
  async #add(): Promise<void> {
    if (this.#waiting.size === 0) return;
    // All servers write hours in one order: two statements could otherwise deadlock.
    const taken = [...this.#waiting].toSorted(([a], [b]) => a - b);
    this.#waiting = new Map();
    try {
      const hours = taken.map(([hour]) => new Date(hour).toISOString());
      await this.#db.query(ADD, [hours, ...OUTCOMES.map((outcome) => taken.map(([, counts]) => counts[outcome]))]);
      this.#isFailing = false;
    } catch (error) {
      this.#putBack(taken);
      if (!this.#isFailing) this.#log.warn({ err: error }, 'could not add the counts of requests to those of the tenant');
      this.#isFailing = true;
    }
  }

  #putBack(taken: readonly (readonly [number, Counts])[]): void {
    for (const [hour, counts] of taken) {
      const waiting = this.#of(hour);
      for (const outcome of OUTCOMES) waiting[outcome] += counts[outcome];
    }
    const dropped = [...this.#waiting.keys()].toSorted((a, b) => a - b).slice(0, -HOURS_MAX);
    for (const hour of dropped) this.#waiting.delete(hour);
  }
}

function outcomeOf(status: number): Outcome {
  if (status < 400) return 'succeeded';
  return status < 500 || status === INSUFFICIENT_STORAGE ? 'refused' : 'failed';
}
