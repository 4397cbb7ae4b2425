import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { releaseReservation, RESERVATION_MS, reserve } from './quota-reservation.sql.ts';
import { MIB } from '../../runtime/bytes.ts';

/**
 * An upload reserves its owner's quota in steps of this size while bytes flow. It is the size of a part of an S3 multipart
 * upload: a smaller upload has nothing in the store before it ends, so it reserves nothing and costs no statement.
 */
export const RESERVATION_STEP_BYTES = 8 * MIB;
const RENEW_AFTER_MS = RESERVATION_MS / 2;
/** An upload waits this long for Postgres, so that a failover does not end it. */
const UNAVAILABLE_LIMIT_MS = 60_000;
const RETRY_MS = 500;

/** The part of a reservation that an upload uses while bytes flow. */
export type QuotaReservation = Pick<Reservation, 'id' | 'needsHold' | 'hold'>;

/** The bytes are reserved as `id` already, until they are counted. */
export const alreadyReserved = (id: string): QuotaReservation => ({ id, needsHold: () => false, hold: async () => undefined });

/**
 * The quota that one upload reserves until its commit counts the bytes, or until it fails.
 *
 * Invariants:
 * - Bytes beyond the first step are reserved before they are sent to the store: stored content and running uploads together
 *   exceed the quota by the uploads' first steps at most, and those are in memory.
 * - The reservation is released when the upload ends in any way; if the server dies, it expires.
 */
export class Reservation {
  readonly #sql: Executor;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #most: number;
  readonly #uuid: string;
  #held = RESERVATION_STEP_BYTES;
  /** Monotonic, ms; undefined: nothing was reserved yet. */
  #renewedAt: number | undefined;
  #holding: Promise<void> | undefined;
  #isReleased = false;

  /** `most`: the largest number of bytes that can come, if known. */
  constructor(deps: { sql: Executor; clock: Clock; log: Logger; uuid: string; most: number | undefined }) {
    this.#sql = deps.sql;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#uuid = deps.uuid;
    this.#most = deps.most ?? Infinity;
  }

  /** Returns the id that the commit must name; undefined: nothing was reserved. */
  get id(): string | undefined {
    return this.#renewedAt === undefined ? undefined : this.#uuid;
  }

  /** Returns whether `hold` must be called before the upload grows to `bytes`. */
  needsHold(bytes: number): boolean {
    if (bytes > this.#held) return true;
    return this.#renewedAt !== undefined && this.#clock.monotonic() - this.#renewedAt > RENEW_AFTER_MS;
  }

  /**
   * Reserves `bytes`, rounded up to a step. One statement, repeated while Postgres is unavailable, since the bytes could flow on
   * without Postgres. Throws `quota_exceeded`.
   */
  async hold(ownerId: number, bytes: number): Promise<void> {
    if (this.#isReleased) throw new Problem('quota_exceeded', 'The upload has ended.');
    // From here on a reservation may exist, whatever the reply is.
    this.#renewedAt = this.#clock.monotonic();
    this.#holding = this.#reserve(ownerId, bytes);
    await this.#holding;
  }

  async #reserve(ownerId: number, bytes: number): Promise<void> {
    const deadline = this.#clock.monotonic() + UNAVAILABLE_LIMIT_MS;
    for (;;) {
      try {
        return await this.#tryReserve(ownerId, bytes);
      } catch (error) {
        if (!(error instanceof StoreUnavailableError) || this.#isReleased || this.#clock.monotonic() > deadline) throw error;
      }
      await this.#clock.sleep(RETRY_MS);
    }
  }

  async #tryReserve(ownerId: number, bytes: number): Promise<void> {
    const step = Math.ceil(bytes / RESERVATION_STEP_BYTES) * RESERVATION_STEP_BYTES;
    const wanted = Math.max(bytes, Math.min(step, this.#most));
    this.#held = await reserve(this.#sql, { id: this.#uuid, ownerId, now: this.#clock.now() }, { needed: bytes, wanted });
  }

  /** Releases the reservation; never throws. No statement if nothing was reserved. */
  async release(): Promise<void> {
    this.#isReleased = true;
    if (this.#renewedAt === undefined) return;
    await this.#holding?.catch(() => undefined);
    try {
      await releaseReservation(this.#sql, this.#uuid);
    } catch (error) {
      this.#log.warn({ err: error }, 'could not release the reserved quota of an upload; it expires');
    }
  }
}
