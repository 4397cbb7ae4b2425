import type { Sessions } from '../../access/sessions.ts';
import type { Actor } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Reservation } from '../blobs/quota-reservation.service.ts';
import type { Counted, Transfers } from '../blobs/transfers.ts';
import { type FilePart, readForm } from './multipart.ts';
import { contentLength, type Upload, type UploadDestination } from './upload.ts';
import type { UploadTarget } from './uploads.sql.ts';

/**
 * Sends the bytes of an upload (a new file, a version or a copy) to the store.
 *
 * Invariants:
 * - No transaction is open while bytes flow.
 * - A failed upload leaves no readable object and no reservation.
 */
export class UploadTransfers {
  readonly #db: Database;
  readonly #sessions: Sessions;
  readonly #blobs: Blobs;
  readonly #transfers: Transfers;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #maxBytes: number;

  constructor(deps: {
    db: Database;
    sessions: Sessions;
    blobs: Blobs;
    transfers: Transfers;
    clock: Clock;
    random: Random;
    log: Logger;
    /** The largest size of one file, bytes. */
    maxBytes: number;
  }) {
    this.#db = deps.db;
    this.#sessions = deps.sessions;
    this.#blobs = deps.blobs;
    this.#transfers = deps.transfers;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#log = deps.log;
    this.#maxBytes = deps.maxBytes;
  }

  /**
   * Runs an upload; if it fails, deletes its object and releases its reservation. The transfer counts against `counted`. `most`:
   * the largest possible number of bytes, if known. Throws `too_many_transfers`.
   */
  async run<T>(
    counted: Counted,
    request: RequestInfo,
    run: (destination: UploadDestination) => Promise<T>,
    most = contentLength(request),
  ): Promise<T> {
    const transfer = this.#transfers.begin('upload', counted, request.traffic);
    try {
      return await this.#reserving(most, (destination) =>
        run({ ...destination, signal: AbortSignal.any([request.signal, transfer.signal]) }),
      );
    } finally {
      transfer.end();
    }
  }

  async #reserving<T>(most: number | undefined, run: (destination: Omit<UploadDestination, 'signal'>) => Promise<T>): Promise<T> {
    const key = await this.#blobs.newKey();
    const [sql, uuid] = [this.#db.tables, this.#random.uuid()];
    const reservation = new Reservation({ sql, uuid, most, clock: this.#clock, log: this.#log });
    try {
      return await this.#blobs.discardUnlessCommitted((into) => run({ key, into, reservation }));
    } catch (error) {
      const released = reservation.release();
      if (!(error instanceof StoreUnavailableError)) await released;
      throw error;
    }
  }

  /**
   * Returns the uploader once the bytes have arrived, with session, roles and grants read again. Takes one round trip to Redis,
   * and no SQL when warm. Throws `unauthenticated`, `forbidden`.
   */
  async reauthenticate(actor: Actor): Promise<Actor> {
    const now = await this.#sessions.authenticate(actor);
    if (!now.permissions.has('write:files')) throw new Problem('forbidden', 'Requires the permission write:files.');
    return now;
  }

  /** Reads the form of an upload; `receive` stores its file. */
  readForm<T>(
    request: RequestInfo,
    { signal }: UploadDestination,
    fields: readonly string[],
    receive: (part: FilePart) => Promise<T>,
  ) {
    const { stream, headers } = request;
    return readForm(
      { stream, signal, contentType: headers['content-type'] },
      { file: 'file', fields, maxFileBytes: this.#maxBytes },
      receive,
    );
  }

  /** Stores the file of a form. Uploads with the same `uploader` share one part of the server's buffers. */
  async store(
    uploader: string,
    { key, ...to }: UploadDestination,
    { stream, signal }: FilePart,
    contentType: string,
    quota: UploadTarget,
  ): Promise<Pick<Upload, 'blob' | 'mimeType'>> {
    const stored = await this.#blobs.store(key, stream, { ...to, quota, contentType, uploader, signal });
    to.into.committing();
    return stored;
  }
}
