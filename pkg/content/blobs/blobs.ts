import { createHash, hash as sha256 } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { Problem } from '../../api/problem.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import { isNotCommitted } from '../../store/postgres/errors.ts';
import { newContentKey } from '../../store/s3/content-key.ts';
import { dayOf, lastWriteOf } from '../../store/s3/upload-day.ts';
import type { Objects } from '../../store/s3/objects.ts';
import { FIRST_BUFFER_BYTES } from '../../store/s3/upload-buffers.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { mediaTypeOf } from './media-type.ts';
import type { QuotaReservation } from './quota-reservation.service.ts';
import { SWEEP_OBJECTS } from './objects.jobs.ts';
import { GIB } from '../../runtime/bytes.ts';

/** The largest object that S3 copies in one request (S3 API, CopyObject). */
const COPY_MAX_BYTES = 5 * GIB;

/** Objects that a request, or a step of a job, stores before a transaction names them. */
export class NewObjects {
  /** Keys that may already have an object. */
  readonly keys: string[] = [];
  #isCommitting = false;

  /** True once the transaction has begun, so rows may name the objects. */
  get isCommitting(): boolean {
    return this.#isCommitting;
  }

  /** Call it when the transaction that names the objects begins. */
  committing(): void {
    this.#isCommitting = true;
  }

  /** Call it when the transaction was committed. More objects may follow. */
  committed(): void {
    this.keys.length = 0;
    this.#isCommitting = false;
  }
}

/** An object in the bucket that no row refers to yet. */
export interface StoredBlob {
  readonly key: string;
  /** bytes */
  readonly size: number;
  /** Hex SHA-256. */
  readonly checksum: string;
  /** CRC-32; null: not known. */
  readonly crc32: number | null;
  /** True if the store encrypts the object at rest. */
  readonly isEncrypted: boolean;
  /** Id of its reservation of quota, if it has one. */
  readonly reservation?: string | undefined;
}

/**
 * The owner of the quota that content counts against, and how much of it remains after the reservations of their other uploads.
 */
export interface RemainingQuota {
  readonly ownerId: number;
  readonly remainingBytes: number;
  /** True if the limit of the tenant, not the owner's quota, sets what remains. */
  readonly isOfTenant: boolean;
}

const overQuota = ({ isOfTenant }: RemainingQuota): Problem =>
  new Problem('quota_exceeded', isOfTenant ? TENANT_IS_FULL : undefined);
const TENANT_IS_FULL =
  'This institution may not store as much more. Ask its administrator to delete something for ever, or whoever runs ' +
  'the platform to raise the limit.';

export interface BlobOptions {
  /** The new objects that this one is recorded with. */
  readonly into: NewObjects;
  /** Bytes beyond what remains are refused with `quota_exceeded` as soon as they arrive. */
  readonly quota: RemainingQuota;
  /** Reserves quota for the bytes that are sent to the store. */
  readonly reservation: QuotaReservation;
  /** uuid of the user whose share of memory the upload takes. */
  readonly uploader: string;
  readonly contentType: string;
  readonly signal: AbortSignal;
}

/** Returns the whole content if it is small, else a stream of it, and its first bytes. */
async function smallOrStream(source: Readable): Promise<{ content: Buffer | AsyncIterable<Buffer>; head: Buffer }> {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  const read: Buffer[] = [];
  for (let bytes = 0; bytes <= FIRST_BUFFER_BYTES;) {
    const next = await chunks.next();
    if (next.done) {
      const content = Buffer.concat(read, bytes);
      return { content, head: content };
    }
    read.push(next.value);
    bytes += next.value.length;
  }
  return { content: continued(read, chunks), head: read[0] ?? Buffer.alloc(0) };
}

async function* continued(read: readonly Buffer[], chunks: AsyncIterator<Buffer, undefined>): AsyncGenerator<Buffer> {
  try {
    yield* read;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  } finally {
    await chunks.return?.();
  }
}

/**
 * Stores the objects of new content (uploads, partial uploads, copies), from the first byte to the commit that adds their rows.
 *
 * Invariants:
 * - Before the first byte of a day's first object, a sweep of that day's keys is scheduled (once a day and instance): it deletes
 *   objects that a crash left without a row. Uploads therefore need no statement for this.
 * - If an upload fails before its transaction (S3 refuses, the stream breaks), or its commit is refused, its objects are deleted
 *   at once. If the outcome of the commit is unknown, the sweep decides by the rows.
 */
export class Blobs {
  readonly #db: Database;
  readonly #objects: Objects;
  readonly #jobs: JobRequests;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  #sweep: { day: string; asked: Promise<void> } | undefined;

  constructor(deps: { db: Database; objects: Objects; jobs: JobRequests; clock: Clock; random: Random; log: Logger }) {
    this.#db = deps.db;
    this.#objects = deps.objects;
    this.#jobs = deps.jobs;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#log = deps.log;
  }

  /** Returns a random key that contains the day but no name. */
  async newKey(): Promise<string> {
    const day = dayOf(this.#clock.now());
    await this.#sweepLater(day);
    return newContentKey(day, this.#random);
  }

  /**
   * Stores content in the bucket, and counts and hashes its bytes. If its first bytes show that `contentType` is wrong, the media
   * type is corrected. Small content is read whole and then sent; larger content streams, with constant memory.
   */
  async store(key: string, source: Readable, given: BlobOptions): Promise<{ blob: StoredBlob; mimeType: string }> {
    const { content, head } = await smallOrStream(source);
    const mimeType = await mediaTypeOf(given.contentType, head);
    const options = { ...given, contentType: mimeType };
    given.into.keys.push(key);
    const blob = await (Buffer.isBuffer(content)
      ? this.#storeSmall(key, content, options)
      : this.#storeStream(key, content, options));
    return { blob, mimeType };
  }

  async #storeSmall(key: string, content: Buffer, { quota, reservation, contentType, signal }: BlobOptions): Promise<StoredBlob> {
    if (content.length > quota.remainingBytes) throw overQuota(quota);
    const { isEncrypted } = await this.#objects.put(key, content, { contentType, signal });
    const sums = { checksum: sha256('sha256', content), crc32: crc32(content) };
    return { key, size: content.length, ...sums, isEncrypted, reservation: reservation.id };
  }

  async #storeStream(key: string, content: AsyncIterable<Buffer>, options: BlobOptions): Promise<StoredBlob> {
    const { contentType, signal } = options;
    const hash = createHash('sha256');
    let [size, crc] = [0, 0];
    const { quota, reservation } = options;
    let refusal: unknown;
    const admit = async (): Promise<void> => {
      try {
        if (size > quota.remainingBytes) throw overQuota(quota);
        await reservation.hold(quota.ownerId, size);
      } catch (error) {
        refusal = error;
        throw error;
      }
    };
    const measured = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of content) {
        size += chunk.length;
        if (size > quota.remainingBytes || reservation.needsHold(size)) await admit();
        hash.update(chunk);
        crc = crc32(chunk, crc);
        yield chunk;
      }
    };
    try {
      const body = Readable.from(measured(), { objectMode: false });
      const { isEncrypted } = await this.#objects.put(key, body, { contentType, signal, owner: options.uploader });
      return { key, size, checksum: hash.digest('hex'), crc32: crc, isEncrypted, reservation: reservation.id };
    } catch (error) {
      throw refusal ?? error;
    }
  }

  /**
   * Stores the content of another object, without the bytes coming here; content that S3 does not copy at once is read and
   * sent. Throws ObjectMissing and `quota_exceeded`.
   */
  async copy(
    key: string,
    from: Pick<StoredBlob, 'key' | 'size' | 'checksum' | 'crc32'>,
    options: BlobOptions,
  ): Promise<StoredBlob> {
    const { quota, reservation, signal, contentType, uploader, into } = options;
    const { size, checksum, crc32: crc } = from;
    if (size > quota.remainingBytes) throw overQuota(quota);
    if (reservation.needsHold(size)) await reservation.hold(quota.ownerId, size);
    into.keys.push(key);
    const { isEncrypted } = await this.#copy(key, from, { signal, contentType, owner: uploader });
    return { key, size, checksum, crc32: crc, isEncrypted, reservation: reservation.id };
  }

  async #copy(
    key: string,
    from: Pick<StoredBlob, 'key' | 'size'>,
    options: { readonly signal: AbortSignal; readonly contentType: string; readonly owner: string },
  ): Promise<Pick<StoredBlob, 'isEncrypted'>> {
    if (from.size <= COPY_MAX_BYTES) return this.#objects.copy(from.key, key);
    const { body } = await this.#objects.get(from.key, { signal: options.signal });
    return this.#objects.put(key, body, { ...options, contentLength: from.size });
  }

  /**
   * Runs `work`, which stores objects and commits rows that name them; if it fails, deletes the objects that no committed row
   * is known to name.
   */
  async discardUnlessCommitted<T>(work: (into: NewObjects) => Promise<T>): Promise<T> {
    const into = new NewObjects();
    try {
      return await work(into);
    } catch (error) {
      // A Problem is thrown before the commit, and Postgres reports an error in its place.
      const areLost = !into.isCommitting || error instanceof Problem || isNotCommitted(error);
      const discarding = areLost ? this.discard(into.keys) : undefined;
      // S3 is unavailable: one attempt, and the reply does not wait for it.
      if (!(error instanceof StoreUnavailableError && error.store === 's3')) await discarding;
      throw error;
    }
  }

  /** Deletes objects that no row names; never throws: after a failure the sweep does it. */
  async discard(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    try {
      await this.#objects.delete(keys);
    } catch (error) {
      this.#log.warn({ err: error, keys }, 'could not delete orphaned objects; the sweep retries');
    }
  }

  async #sweepLater(day: string): Promise<void> {
    if (this.#sweep?.day !== day) {
      const asked = this.#jobs.schedule(this.#db, SWEEP_OBJECTS, { day }, lastWriteOf(day), { unlessPresent: true });
      this.#sweep = { day, asked };
      asked.catch(() => (this.#sweep = undefined));
    }
    await this.#sweep.asked;
  }
}
