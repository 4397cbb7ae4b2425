import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';

/**
 * In such steps an upload takes its owner's quota while bytes flow. As large as a part of an upload to S3: of what is smaller nothing lies in the store
 * before its end, so it reserves nothing and costs no statement.
 */
export const RESERVATION_STEP_BYTES = 8 * 1024 * 1024;
/** A reservation counts so long after it was last renewed. A server that lives renews it in time, since an upload is never silent for longer than 120 s. */
export const RESERVATION_MS = 10 * 60 * 1000;
const RENEW_AFTER_MS = RESERVATION_MS / 2;
/** So long an upload stands still while Postgres is away: a failover does not end it. */
const AWAY_LIMIT_MS = 60_000;
const ASK_AGAIN_MS = 500;

/**
 * What one upload holds of its owner's quota until its commit counts it, or until it fails.
 *
 * Invariants:
 * - What an upload sends on to the store beyond the first step is reserved before: all that is under way and all that is stored together pass the
 *   quota by the uploads' first steps at most, and those are in memory.
 * - Whatever becomes of the upload, its reservation goes; where the server dies, it expires.
 */
export class Reservation {
  readonly #sql: Executor;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #most: number;
  readonly #uuid: string;
  #held = RESERVATION_STEP_BYTES;
  /** Monotonic, ms; undefined: nothing is reserved yet. */
  #renewedAt: number | undefined;
  #holding: Promise<void> | undefined;
  #isReleased = false;

  /** `most`: bytes that can come at most, where that is known. */
  constructor(deps: { sql: Executor; clock: Clock; log: Logger; uuid: string; most: number | undefined }) {
    this.#sql = deps.sql;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#uuid = deps.uuid;
    this.#most = deps.most ?? Infinity;
  }

  /** As the commit has to name it; undefined: there is none. */
  get id(): string | undefined {
    return this.#renewedAt === undefined ? undefined : this.#uuid;
  }

  /** Whether `hold` has to be asked before the upload grows to so many bytes. */
  lacks(bytes: number): boolean {
    if (bytes > this.#held) return true;
    return this.#renewedAt !== undefined && this.#clock.monotonic() - this.#renewedAt > RENEW_AFTER_MS;
  }

  /**
   * Reserves all of so many bytes, and what is left of their step. One statement, asked again while Postgres is away: bytes could flow on without it.
   * Throws `quota_exceeded`.
   */
  async hold(ownerId: number, bytes: number): Promise<void> {
    if (this.#isReleased) throw new Problem('quota_exceeded', 'The upload has ended.');
    // From here on there may be one, whatever the answer is.
    this.#renewedAt = this.#clock.monotonic();
    this.#holding = this.#reserve(ownerId, bytes);
    await this.#holding;
  }

  async #reserve(ownerId: number, bytes: number): Promise<void> {
    const deadline = this.#clock.monotonic() + AWAY_LIMIT_MS;
    for (;;) {
      try {
        return await this.#ask(ownerId, bytes);
      } catch (error) {
        if (!(error instanceof StoreUnavailableError) || this.#isReleased || this.#clock.monotonic() > deadline) throw error;
      }
      await this.#clock.sleep(ASK_AGAIN_MS);
    }
  }

  async #ask(ownerId: number, bytes: number): Promise<void> {
    const step = Math.ceil(bytes / RESERVATION_STEP_BYTES) * RESERVATION_STEP_BYTES;
    const wanted = Math.max(bytes, Math.min(step, this.#most));
    const now = this.#clock.now();
    const until = new Date(now.getTime() + RESERVATION_MS);
    const [row] = await this.#sql.prepared<{ held: number | null }>(
      'content-reserve-step',
      'SELECT reserve_storage($1, $2, $3, $4, $5, $6) AS held',
      [this.#uuid, ownerId, bytes, wanted, now, until],
    );
    if (typeof row?.held !== 'number') throw new Problem('quota_exceeded');
    this.#held = row.held;
  }

  /** Gives back what is reserved; never throws. No statement where nothing is. */
  async release(): Promise<void> {
    this.#isReleased = true;
    if (this.#renewedAt === undefined) return;
    await this.#holding?.catch(() => undefined);
    try {
      await this.#sql.prepared('content-release', 'DELETE FROM storage_reservations WHERE id = $1', [this.#uuid]);
    } catch (error) {
      this.#log.warn({ err: error }, 'could not release the reserved quota of an upload; it expires');
    }
  }
}
