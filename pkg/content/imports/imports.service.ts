import type { Caller } from '../model/access/caller.ts';
import type { Sessions } from '../../access/sessions.ts';
import type { Actor } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { TenantSettings } from '../../feature/services.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { ObjectMissing, type Objects } from '../../store/s3/objects.ts';
import type { TaskRequests } from '../../tasks/task-requests.ts';
import type { TaskSubject, TaskView } from '../../tasks/tasks.schema.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import type { Files } from '../model/files/files.service.ts';
import { openFolder } from '../model/folders/folders.sql.ts';
import { EXPIRE_UPLOADS } from '../uploads/partial/partial-uploads.jobs.ts';
import type { Transfers } from '../blobs/transfers.ts';
import type { Blobs, NewObjects } from '../blobs/blobs.ts';
import { type FilePart, readForm } from '../uploads/multipart.ts';
import { Reservation } from '../blobs/quota-reservation.service.ts';
import { reserve } from '../blobs/quota-reservation.sql.ts';
import { contentLength } from '../uploads/upload.ts';
import { findUploadTarget } from '../uploads/uploads.sql.ts';
import { END_MAX_BYTES, requireEnd } from './archive-end.ts';
import { Refused } from './archive-entry.ts';
import { IMPORT, type ImportArguments, newImportResult } from './import-task.ts';
import { IMPORT_FIELDS, type ImportOptions, importFields, type ImportRequest } from './imports.schema.ts';
import { beginStaging, STAGED_MS } from './imports.sql.ts';

const ZIP = 'application/zip';

/**
 * Requests imports, which import.processor.ts runs.
 *
 * Invariants:
 * - An archive that came with the request is an object of the bucket until its task has ended, and counts as reserved quota until
 *   then.
 * - An archive whose last bytes show that it is unusable is refused with the request, and nothing of it stays.
 */
export class Imports {
  readonly #db: Database;
  readonly #objects: Objects;
  readonly #sessions: Sessions;
  readonly #transactions: AuthorizedTransactions;
  readonly #tasks: TaskRequests;
  readonly #files: Files;
  readonly #blobs: Blobs;
  readonly #transfers: Transfers;
  readonly #jobs: JobRequests;
  readonly #settings: Pick<TenantSettings, 'versions'>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #maxBytes: number;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    objects: Objects;
    sessions: Sessions;
    tasks: TaskRequests;
    files: Files;
    blobs: Blobs;
    transfers: Transfers;
    jobs: JobRequests;
    settings: Pick<TenantSettings, 'versions'>;
    clock: Clock;
    random: Random;
    log: Logger;
    /** The largest size of one file, bytes. */
    maxBytes: number;
  }) {
    this.#db = deps.db;
    this.#objects = deps.objects;
    this.#sessions = deps.sessions;
    this.#transactions = authorizedTransactions(deps);
    this.#tasks = deps.tasks;
    this.#files = deps.files;
    this.#blobs = deps.blobs;
    this.#transfers = deps.transfers;
    this.#jobs = deps.jobs;
    this.#settings = deps.settings;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#log = deps.log;
    this.#maxBytes = deps.maxBytes;
  }

  /**
   * Imports a zip archive that is a file which the actor may read. Takes one read of the store, and the statements of a request
   * for a task. Throws `not_found`, `forbidden`, `archive_refused`, `conflict` (too many jobs).
   */
  async importFile(actor: Actor, { file_id: file, ...options }: ImportRequest): Promise<TaskView> {
    const { blobName: key, size, name } = await this.#files.read(actor, file);
    await this.#requireArchive(key, size);
    const subject: TaskSubject = { type: 'file', id: file, name };
    return this.#transactions.run(actor, (tx, caller) => this.#request(tx, caller, { key, size, file }, options, subject));
  }

  /** Imports an archive that comes with the request. Also throws `quota_exceeded`, `too_many_transfers`, `payload_too_large`. */
  async importForm(actor: Actor, request: RequestInfo): Promise<TaskView> {
    const transfer = this.#transfers.begin('upload', { person: actor.userUuid }, request.traffic);
    const [sql, uuid, most] = [this.#db.tables, this.#random.uuid(), contentLength(request)];
    const reservation = new Reservation({ sql, uuid, most, clock: this.#clock, log: this.#log });
    try {
      const signal = AbortSignal.any([request.signal, transfer.signal]);
      const { stream, headers } = request;
      const rules = { file: 'file', fields: IMPORT_FIELDS, maxFileBytes: this.#maxBytes };
      return await this.#blobs.discardUnlessCommitted(async (into) => {
        const form = await readForm({ stream, signal, contentType: headers['content-type'] }, rules, (part) =>
          this.#receive(actor, part, { into, reservation }),
        );
        const options = importFields(form.fields);
        await this.#requireArchive(form.file.key, form.file.size);
        const now = await this.#sessions.authenticate(actor);
        return this.#transactions.run(now, async (tx, caller) => {
          into.committing();
          return this.#request(tx, caller, { ...form.file, file: null }, options);
        });
      });
    } finally {
      transfer.end();
      await reservation.release();
    }
  }

  async #receive(
    actor: Actor,
    { stream, signal }: FilePart,
    to: { readonly into: NewObjects; readonly reservation: Reservation },
  ): Promise<{ key: string; size: number }> {
    const quota = await findUploadTarget(this.#db.tables, actor.userId, this.#clock.now());
    if (!quota) throw new Problem('unauthenticated');
    const key = await this.#blobs.newKey();
    const { blob } = await this.#blobs.store(key, stream, { ...to, quota, contentType: ZIP, uploader: actor.userUuid, signal });
    return { key, size: blob.size };
  }

  async #requireArchive(key: string, size: number): Promise<void> {
    try {
      const length = Math.min(size, END_MAX_BYTES);
      if (length === 0) throw new Refused('is empty');
      const { body } = await this.#objects.get(key, { range: { start: size - length, end: size - 1 } });
      requireEnd(Buffer.concat(await body.toArray()), size);
    } catch (error) {
      if (error instanceof Refused) throw new Problem('archive_refused', `The archive ${error.message}.`);
      throw error instanceof ObjectMissing ? new Problem('not_found', undefined, { cause: error }) : error;
    }
  }

  async #request(
    tx: Tx,
    caller: Caller,
    archive: ImportArguments['archive'],
    { folder_id: folder = null, on_conflict: onConflict, encoding }: ImportOptions,
    subject?: TaskSubject,
  ): Promise<TaskView> {
    if (!caller.actor.permissions.has('write:files')) throw new Problem('forbidden', 'Requires the permission write:files.');
    if (folder !== null) await openFolder(tx, caller, folder, 'folder_id');
    const { keep, days = null } = this.#settings.versions;
    const permissions = [...caller.actor.permissions];
    const task = await this.#tasks.request(tx, IMPORT, caller.actor.userId, {
      arguments: {
        archive,
        ...(subject ? { subject } : {}),
        folder,
        onConflict,
        encoding,
        permissions,
        maxBytes: this.#maxBytes,
        versions: { keep, days },
      },
      result: newImportResult(folder),
    });
    const now = this.#clock.now();
    const until = new Date(now.getTime() + STAGED_MS);
    await beginStaging(tx, task.id, until, archive.file === null ? archive : null);
    await this.#jobs.schedule(tx, EXPIRE_UPLOADS, {}, until);
    const bytes = archive.file === null ? archive.size : 0;
    await reserve(tx, { id: task.id, ownerId: caller.actor.userId, now, until }, { needed: bytes, wanted: bytes });
    return task;
  }
}
