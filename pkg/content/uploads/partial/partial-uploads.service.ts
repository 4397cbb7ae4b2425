import { Readable } from 'node:stream';
import type { RequestInfo } from '../../../api/endpoint.ts';
import { invalid, Problem } from '../../../api/problem.ts';
import { DailyJobs, endOfDay } from '../../../events/daily-jobs.ts';
import type { JobRequests } from '../../../events/job-requests.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/log.ts';
import type { Random } from '../../../runtime/random.ts';
import type { Database, Tx } from '../../../store/postgres/database.ts';
import { ObjectMissing, type Objects } from '../../../store/s3/objects.ts';
import { requestPurge } from '../../blobs/objects.jobs.ts';
import type { Transfers } from '../../blobs/transfers.ts';
import type { Blobs, NewObjects } from '../../blobs/blobs.ts';
import type { Uploads } from '../uploads.service.ts';
import { contentLength } from '../upload.ts';
import type { Uploader } from '../uploader.ts';
import { ChunkBody } from './chunk-body.ts';
import { EXPIRE_UPLOADS } from './partial-uploads.jobs.ts';
import {
  addSegments,
  completeUpload,
  deleteUpload,
  findUpload,
  insertUpload,
  type PartialUpload,
  reserveUpload,
  type Segment,
  segmentsOf,
  trimReservation,
} from './partial-uploads.sql.ts';
import { bytesIn, checksumIn, lengthIn, partOf } from './tus-headers.ts';
import { type Turn, UploadTurns } from './upload-turns.ts';
import { DAY_MS, HOUR_MS } from '../../../runtime/time.ts';
import { MIB } from '../../../runtime/bytes.ts';

/** The bytes of a segment: as many as one request sends to the store. */
const SEGMENT_BYTES = 8 * MIB;
/** A last segment that is smaller is joined with the bytes that come next, so that small requests do not make an object each. */
const LEAST_SEGMENT_BYTES = MIB;
/** An upload expires this long after its last byte. */
const EXPIRES_MS = DAY_MS;
/** An upload by a link expires sooner: it reserves the quota of the link's maker, and its sender is unknown. */
const EXPIRES_BY_LINK_MS = HOUR_MS;
/** The number of uploads that a user or a link may have that are neither complete nor expired. */
const OPEN_MAX = 100;

/** The content of one request. */
interface Chunk {
  readonly body: ChunkBody;
  /** The SHA-256 of its bytes, in Base64. */
  readonly checksum: string | undefined;
  /** The bytes that it declares; undefined: it declares nothing. */
  readonly bytes: number | undefined;
  /** Length of the upload, which the request may be the first to state; null while it is unknown. */
  readonly length: number | null;
}

/** Objects that one request has stored and no row names yet. */
interface Pending {
  readonly segments: Segment[];
  /** The bytes of `segments`, and of a segment that is being sent. */
  readonly into: NewObjects;
  /** The former last segment, whose bytes are now in the first of `segments`. */
  replaced: Segment | undefined;
}

/**
 * Uploads in several requests (tus 1.0). The bytes of each become segments, objects of up to 8 MiB; with the last byte the
 * segments are read as one stream, which becomes a file as any upload does (`Uploads`).
 *
 * Invariants:
 * - The offset is the sum of the segments that rows name, at every server: no process holds state of an upload.
 * - A segment is added only behind the bytes that its request saw: of racing requests one adds, the others get `conflict`.
 * - The offset becomes the length in the transaction that makes the file. If that is refused, the last segment is discarded:
 *   the client may send it again.
 * - The bytes of a request with a checksum, or without a Content-Length, are added all at once: a refused request leaves no
 *   byte.
 * - A length that a request is the first to declare is fixed when all of its bytes have arrived, in the transaction that adds
 *   the last of them.
 * - An upload's bytes count as reserved quota until it is a file, is deleted, or expires; what somebody with a link has only
 *   announced does not. Those of a running request are reserved before they are sent to the store; a server runs one request of
 *   an upload at a time (`UploadTurns`). A refused request releases its reservation.
 * - An object that no row names is deleted at once, after a crash by the sweep of its day; those of an expired upload by
 *   `EXPIRE_UPLOADS`.
 */
export class PartialUploads {
  readonly #db: Database;
  readonly #objects: Objects;
  readonly #blobs: Blobs;
  readonly #uploads: Uploads;
  readonly #transfers: Transfers;
  readonly #jobs: JobRequests;
  readonly #expiry: DailyJobs;
  readonly #turns = new UploadTurns();
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  /** The largest size of one file, bytes. */
  readonly maxBytes: number;

  constructor(deps: {
    db: Database;
    objects: Objects;
    blobs: Blobs;
    uploads: Uploads;
    transfers: Transfers;
    jobs: JobRequests;
    clock: Clock;
    random: Random;
    log: Logger;
    maxBytes: number;
  }) {
    this.#db = deps.db;
    this.#objects = deps.objects;
    this.#blobs = deps.blobs;
    this.#uploads = deps.uploads;
    this.#transfers = deps.transfers;
    this.#jobs = deps.jobs;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#log = deps.log;
    this.maxBytes = deps.maxBytes;
    this.#expiry = new DailyJobs(deps.clock, (now) =>
      deps.jobs.schedule(deps.db.tables, EXPIRE_UPLOADS, {}, new Date(endOfDay(now).getTime() + EXPIRES_MS)),
    );
  }

  /** Throws `not_found`, also for an upload of another user or by another link, and `upload_expired`. */
  async get(by: Uploader, uuid: string): Promise<PartialUpload> {
    const upload = await findUpload(this.#db.tables, uuid, by.actor.userId, by.link?.shareId ?? null);
    if (!upload) throw new Problem('not_found');
    if (upload.expiresAt <= this.#clock.now()) throw new Problem('upload_expired');
    return upload;
  }

  /** Begins an upload, with its first bytes if `hasBytes`. */
  async create(by: Uploader, request: RequestInfo, hasBytes: boolean): Promise<PartialUpload> {
    const length = lengthIn(request);
    this.#requireSize(length ?? 0);
    const metadata = request.headers['upload-metadata'] ?? '';
    const checksum = checksumIn(request);
    await this.#uploads.requireTarget(by, partOf(metadata, by.fields));
    await this.#expiry.ensure();
    const now = this.#clock.now();
    const link = { shareId: by.link?.shareId ?? null, shareSession: by.link?.session ?? null };
    const made = {
      uuid: this.#random.uuid(),
      userId: by.actor.userId,
      length,
      metadata,
      expiresAt: this.#expiresAt(link),
      ...link,
    };
    const upload = await this.#db.transaction(async (tx) => {
      // Strangers hold no quota by a length that they say.
      await reserveUpload(tx, made, { needed: length ?? 0, wanted: reservedFor({ ...made, received: 0 }) }, now);
      return insertUpload(tx, made, { now, most: OPEN_MAX });
    });
    if (!upload)
      throw new Problem(
        'conflict',
        by.link
          ? `This link has ${OPEN_MAX} uploads that are not complete. Try again when one of them is complete.`
          : `You have ${OPEN_MAX} uploads that are not complete. Complete or delete one of them.`,
      );
    if (!hasBytes && length !== 0) return upload;
    try {
      return await this.#turns.run(upload.uuid, (turn) => this.#receive(by, upload, request, { checksum, length }, turn));
    } catch (error) {
      // The client does not learn the upload's address.
      await this.#delete(upload).catch((failure: unknown) =>
        this.#log.warn({ err: failure }, 'could not delete an upload; it expires'),
      );
      throw error;
    }
  }

  /**
   * Adds the request's bytes. Throws `conflict` if the upload is not at their offset, and everything that an upload of a file
   * throws.
   */
  async append(by: Uploader, uuid: string, request: RequestInfo): Promise<PartialUpload> {
    const offset = bytesIn(request, 'Upload-Offset');
    if (offset === undefined) throw invalid('Upload-Offset', 'is required');
    const checksum = checksumIn(request);
    const length = bytesIn(request, 'Upload-Length');
    const seen = await this.get(by, uuid);
    return this.#turns.run(uuid, async (turn) => {
      const upload = turn.hasWaited ? await this.get(by, uuid) : seen;
      if (offset !== upload.received) throw this.#moved();
      if (length !== undefined) this.#requireLength(upload, length);
      await this.#expiry.ensure();
      return this.#receive(by, upload, request, { checksum, length: length ?? upload.length }, turn);
    });
  }

  /** Deletes an upload with its stored bytes. A file that was made of it stays. */
  async delete(by: Uploader, uuid: string): Promise<void> {
    const upload = await this.get(by, uuid);
    await this.#turns.run(uuid, () => this.#delete(upload));
  }

  #delete(upload: PartialUpload): Promise<void> {
    return this.#db.transaction(async (tx) => requestPurge(this.#jobs, tx, await deleteUpload(tx, upload)));
  }

  async #receive(
    by: Uploader,
    upload: PartialUpload,
    request: RequestInfo,
    said: Pick<Chunk, 'checksum' | 'length'>,
    turn: Turn,
  ): Promise<PartialUpload> {
    const bytes = contentLength(request);
    if ((bytes ?? 0) > (said.length ?? this.maxBytes) - upload.received) throw tooLarge();
    const transfer = this.#transfers.begin('upload', by.counted, request.traffic);
    const body = new ChunkBody(request.stream, AbortSignal.any([transfer.signal, turn.signal]));
    try {
      const received = await this.#store(by, upload, { ...said, body, bytes }, { transfer: transfer.signal, turn: turn.signal });
      transfer.signal.throwIfAborted();
      return received;
    } finally {
      body.end();
      transfer.end();
    }
  }

  /** Stores the bytes, a segment at a time. Returns the upload as it is then. */
  async #store(
    by: Uploader,
    before: PartialUpload,
    chunk: Chunk,
    signals: { readonly transfer: AbortSignal; readonly turn: AbortSignal },
  ): Promise<PartialUpload> {
    const { body, checksum, length } = chunk;
    const isAddedAtOnce = checksum !== undefined || chunk.bytes === undefined;
    let upload = before;
    let held = reservedFor(upload);
    const store = async (into: NewObjects): Promise<PartialUpload> => {
      let pending = nothing(into);
      while (await body.isMore()) {
        const end = endOf(upload, pending);
        if (end >= (length ?? this.maxBytes)) throw tooLarge();
        if (end >= held) held = await reserveUpload(this.#db.tables, upload, this.#growth(before, chunk, end), this.#clock.now());
        await this.#storeNext(by, upload, pending, body, Math.min(length ?? this.maxBytes, held) - end);
        // The last segment is added with the file; one without a successor yet may be the last.
        if (isAddedAtOnce || endOf(upload, pending) === length) continue;
        signals.turn.throwIfAborted();
        upload = await this.#add(upload, pending, { reserved: held });
        pending = nothing(into);
      }
      // What is added already stays, and the reply says so.
      if (pending.segments.length > 0 || !body.isWhole) signals.turn.throwIfAborted();
      if (checksum !== undefined && (!body.isWhole || body.digest() !== checksum)) throw new Problem('checksum_mismatch');
      if (upload.file !== null) return upload;
      if (endOf(upload, pending) === length) {
        upload = await this.#complete(by, { ...upload, length }, pending, signals.transfer);
        await this.#blobs.discard(into.keys);
      } else if (pending.segments.length > 0 || (body.isWhole && length !== upload.length))
        upload = await this.#add(upload, pending, { length: body.isWhole ? length : upload.length });
      return upload;
    };
    try {
      return await this.#blobs.discardUnlessCommitted(store);
    } catch (error) {
      // Another request has joined it with its own bytes, completed the upload or deleted it.
      throw error instanceof ObjectMissing ? this.#moved() : error;
    } finally {
      if (held > reservedFor(upload) && upload.file === null) await this.#trim(upload);
    }
  }

  /** Returns the bytes to reserve behind `end`: all that are known to come, or a segment, or less where the quota has less. */
  #growth({ received, shareId }: PartialUpload, { length, bytes }: Chunk, end: number): { needed: number; wanted: number } {
    if (length !== null && shareId === null) return exactly(length);
    return bytes === undefined
      ? { needed: end + 1, wanted: Math.min(end + SEGMENT_BYTES, this.maxBytes) }
      : exactly(received + bytes);
  }

  async #storeNext(by: Uploader, upload: PartialUpload, pending: Pending, body: ChunkBody, most: number): Promise<void> {
    const last = pending.segments.length === 0 ? (await segmentsOf(this.#db.tables, upload)).at(-1) : undefined;
    const joined = last !== undefined && last.size < LEAST_SEGMENT_BYTES ? last : undefined;
    const key = await this.#blobs.newKey();
    pending.into.keys.push(key);
    const bytes = Readable.from(this.#segment(joined, body.run(Math.min(most, SEGMENT_BYTES - (joined?.size ?? 0)))), {
      objectMode: false,
    });
    const { size } = await this.#objects.put(key, bytes, { owner: by.sender });
    pending.segments.push({ key, size });
    pending.replaced ??= joined;
  }

  async *#segment(joined: Segment | undefined, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    if (joined) yield* (await this.#objects.get(joined.key)).body as AsyncIterable<Buffer>;
    yield* bytes;
  }

  /**
   * `length`: fixes the length, if the request has declared it and is whole; `reserved`: the reservation that the request
   * continues with.
   */
  async #add(upload: PartialUpload, pending: Pending, { length = upload.length, reserved = 0 }): Promise<PartialUpload> {
    const added = { ...upload, length, received: endOf(upload, pending), expiresAt: this.#expiresAt(upload) };
    pending.into.committing();
    await this.#db.transaction(async (tx) => {
      await reserveUpload(tx, added, exactly(Math.max(reservedFor(added), reserved)), this.#clock.now());
      if (!(await addSegments(tx, upload, added, pending.segments, pending.replaced))) throw this.#moved();
    });
    pending.into.committed();
    if (pending.replaced) await this.#blobs.discard([pending.replaced.key]);
    return added;
  }

  /** Makes the file of the upload. */
  async #complete(by: Uploader, upload: PartialUpload, pending: Pending, signal: AbortSignal): Promise<PartialUpload> {
    const present = await segmentsOf(this.#db.tables, upload);
    const sum = present.reduce((bytes, { size }) => bytes + size, 0);
    if (sum !== upload.received) throw this.#moved();
    const segments = [...present.filter(({ key }) => key !== pending.replaced?.key), ...pending.segments];
    const stream = Readable.from(this.#contentOf(segments, signal), { objectMode: false });
    const part = { ...partOf(upload.metadata, by.fields), stream, signal };
    const session = upload.shareSession;
    const sender = by.link && session !== null ? by.link.inSession(session) : by;
    const also = async (tx: Tx, file: string): Promise<void> => {
      if (!(await completeUpload(tx, upload, file))) throw this.#moved();
      await requestPurge(
        this.#jobs,
        tx,
        present.map(({ key }) => key),
      );
    };
    const file = await this.#uploads.createReserved(sender, part, upload.uuid, also);
    return { ...upload, received: upload.length ?? upload.received, file };
  }

  async *#contentOf(segments: readonly Segment[], signal: AbortSignal): AsyncGenerator<Buffer> {
    for (const { key } of segments) yield* (await this.#objects.get(key, { signal })).body as AsyncIterable<Buffer>;
  }

  async #trim(upload: PartialUpload): Promise<void> {
    await trimReservation(this.#db.tables, upload).catch((error: unknown) =>
      this.#log.warn({ err: error }, 'could not release the reserved quota of a request; the next one of its upload does'),
    );
  }

  /** Throws `validation_failed`, `payload_too_large`. */
  #requireLength(upload: PartialUpload, length: number): void {
    if (upload.length === null ? length < upload.received : length !== upload.length)
      throw invalid('Upload-Length', 'must not change, nor be less than what is stored');
    this.#requireSize(length);
  }

  #requireSize(bytes: number): void {
    if (bytes > this.maxBytes) throw tooLarge();
  }

  #expiresAt({ shareId }: Pick<PartialUpload, 'shareId'>): Date {
    return new Date(this.#clock.now().getTime() + (shareId === null ? EXPIRES_MS : EXPIRES_BY_LINK_MS));
  }

  #moved(): Problem {
    return new Problem('conflict', 'The upload is not at this offset. Ask for its offset (HEAD) and continue there.');
  }
}

const nothing = (into: NewObjects): Pending => ({ segments: [], into, replaced: undefined });

/** Returns the bytes that stay reserved for an upload while no request sends bytes of it: by a link only what has arrived. */
const reservedFor = ({ length, received, shareId }: Pick<PartialUpload, 'length' | 'received' | 'shareId'>): number =>
  shareId === null ? (length ?? received) : received;
const exactly = (bytes: number): { needed: number; wanted: number } => ({ needed: bytes, wanted: bytes });

/** Returns the bytes of an upload including pending ones. */
const endOf = ({ received }: PartialUpload, { segments, replaced }: Pending): number =>
  received + segments.reduce((sum, { size }) => sum + size, 0) - (replaced?.size ?? 0);

const tooLarge = (): Problem => new Problem('payload_too_large', 'The upload is longer than declared, or than an upload may be.');
