import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Problem } from '../../api/problem.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import { newContentKey } from '../../store/s3/content-key.ts';
import { dayOf, lastWriteOf } from '../../store/s3/day.ts';
import type { Objects } from '../../store/s3/objects.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import type { Reservation } from './reservation.ts';
import { SWEEP_OBJECTS } from '../objects/objects.jobs.ts';

/** What lies in the bucket now and belongs to no row yet. */
export interface StoredBlob {
  readonly key: string;
  /** bytes */
  readonly size: number;
  /** Hex SHA-256. */
  readonly checksum: string;
  /** What of a quota is reserved for it, where anything is. */
  readonly reservation?: string | undefined;
}

export interface BlobOptions {
  /** Whose quota it counts to, and how many bytes of it are left: more are refused with `quota_exceeded` as soon as they come. */
  readonly room: { readonly ownerId: number; readonly bytes: number };
  /** Holds what is sent on to the store. */
  readonly reservation: Reservation;
  /** uuid of the user whose share of memory it takes. */
  readonly uploader: string;
  readonly contentType: string;
  readonly signal: AbortSignal;
}

/**
 * The objects of new content, from their first byte to the commit that makes them a file's.
 *
 * Invariants:
 * - Before the first byte of a day's first object flows, a sweep of that day's keys is asked for (once a day and process): whatever a crash
 *   leaves between the object and its row is found and deleted by it. So a single upload needs no statement of its own for that.
 * - An object whose commit was refused is deleted at once. One whose commit has an unknown outcome is left to the sweep, which asks the rows.
 */
export class Blobs {
  readonly #db: Database;
  readonly #objects: Objects;
  readonly #jobs: JobRequests;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  /** Keys under which something may lie by now. */
  readonly #begun = new Set<string>();
  #sweep: { day: string; asked: Promise<void> } | undefined;

  constructor(deps: { db: Database; objects: Objects; jobs: JobRequests; clock: Clock; random: Random; log: Logger }) {
    this.#db = deps.db;
    this.#objects = deps.objects;
    this.#jobs = deps.jobs;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#log = deps.log;
  }

  /** A random key that holds the day and no name. */
  async newKey(): Promise<string> {
    const day = dayOf(this.#clock.now());
    await this.#sweepAskedFor(day);
    return newContentKey(day, this.#random);
  }

  /**
   * Streams content into the bucket, counting and hashing on the way; memory does not grow with its size.
   */
  async store(key: string, source: Readable, options: BlobOptions): Promise<StoredBlob> {
    const { contentType, signal } = options;
    this.#begun.add(key);
    const hash = createHash('sha256');
    let size = 0;
    const { room, reservation } = options;
    let refusal: unknown;
    const admit = async (): Promise<void> => {
      try {
        if (size > room.bytes) throw new Problem('quota_exceeded');
        await reservation.hold(room.ownerId, size);
      } catch (error) {
        refusal = error;
        throw error;
      }
    };
    const measured = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > room.bytes || reservation.lacks(size)) await admit();
        hash.update(chunk);
        yield chunk;
      }
    };
    try {
      const body = Readable.from(measured(), { objectMode: false });
      await this.#objects.put(key, body, { contentType, signal, owner: options.uploader });
    } catch (error) {
      throw refusal ?? error;
    }
    return { key, size, checksum: hash.digest('hex'), reservation: reservation.id };
  }

  /** Runs what stores an object and commits its row; when that fails the object goes, unless the row may be there. */
  async keptIfCommitted<T>(key: string, upload: () => Promise<T>): Promise<T> {
    try {
      return await upload();
    } catch (error) {
      if (this.#begun.has(key)) await this.#undo(key, error);
      throw error;
    } finally {
      this.#begun.delete(key);
    }
  }

  async #undo(key: string, error: unknown): Promise<void> {
    if (!(error instanceof StoreUnavailableError)) return this.#discard(key);
    // Where S3 is away it is tried once, and the client's answer does not wait for that.
    if (error.store === 's3') void this.#discard(key);
  }

  async #discard(key: string): Promise<void> {
    try {
      await this.#objects.delete([key]);
    } catch (error) {
      this.#log.warn({ err: error, key }, 'could not delete orphaned object; the sweep will');
    }
  }

  async #sweepAskedFor(day: string): Promise<void> {
    if (this.#sweep?.day !== day) {
      const asked = this.#jobs.schedule(this.#db.tables, SWEEP_OBJECTS, { day }, lastWriteOf(day));
      this.#sweep = { day, asked };
      asked.catch(() => (this.#sweep = undefined));
    }
    await this.#sweep.asked;
  }
}
