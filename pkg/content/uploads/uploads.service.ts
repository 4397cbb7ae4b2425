import type { Actor } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Events } from '../../events/events.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { originParameter } from '../../store/postgres/origin.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { alreadyReserved } from '../blobs/quota-reservation.service.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { allows, levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { FileWriter } from '../model/files/file-writer.ts';
import { fileSeenBy, type SeenFile } from '../model/files/files.view.ts';
import type { VersionSchedule } from '../model/files/version-schedule.ts';
import { pathFault, pathOf } from '../model/names/names.policy.ts';
import type { FilePart } from './multipart.ts';
import { NewFiles } from './new-files.ts';
import type { Upload, UploadDestination } from './upload.ts';
import type { UploadTransfers } from './upload-transfers.ts';
import { signedIn, type Uploader } from './uploader.ts';
import { type UploadFields, uploadName, uploadType } from './uploads.schema.ts';
import { findUploadTarget, type UploadTarget } from './uploads.sql.ts';

/**
 * Receives uploads. The multipart bytes go straight to S3; then one statement that uploads share (`NewFiles`), or one short
 * transaction, turns them into a file or a version.
 *
 * Invariants:
 * - No transaction is open while bytes flow.
 * - Rights are checked again after the bytes have arrived, however long that took.
 * - A quota (current content, versions and trash of the file's owner) is never exceeded, however many uploads race: it is decided
 *   under the lock of the owner's row. Running uploads exceed it by their first step at most (`Reservation`).
 * - A failed upload leaves no row and no readable object.
 * - An upload up to 8 MiB takes two statements: quota and folder before the bytes; file with version 1, quota and event after
 *   them. A larger one takes five: after the bytes, a transaction of folder, file with version 1, quota and event. Each further
 *   step of 8 MiB takes one more.
 */
export class Uploads {
  readonly #db: Database;
  readonly #transactions: AuthorizedTransactions;
  readonly #blobs: Blobs;
  readonly #transfers: UploadTransfers;
  readonly #events: Events;
  readonly #newFiles: NewFiles;
  readonly #writer: FileWriter;
  readonly #schedule: VersionSchedule;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #bucket: string;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    blobs: Blobs;
    transfers: UploadTransfers;
    events: Events;
    schedule: VersionSchedule;
    clock: Clock;
    random: Random;
    bucket: string;
  }) {
    this.#db = deps.db;
    this.#transactions = authorizedTransactions(deps);
    this.#blobs = deps.blobs;
    this.#transfers = deps.transfers;
    this.#events = deps.events;
    this.#newFiles = new NewFiles(deps);
    this.#writer = new FileWriter(deps);
    this.#schedule = deps.schedule;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#bucket = deps.bucket;
  }

  /** Returns the uploader who is this actor. */
  signedIn(actor: Actor): Uploader {
    return signedIn(actor, this.#transfers);
  }

  /**
   * Creates a file, or with `on_conflict=replace` possibly a new version of the file that has its name (`created` false).
   * `sentAs`: the name under which it was sent.
   */
  async create(by: Uploader, request: RequestInfo): Promise<{ created: boolean; file: SeenFile; sentAs: string }> {
    return this.#transfers.run(by.counted, request, async (destination) => {
      const form = await this.#transfers.readForm(request, destination, by.fields, (part) =>
        this.#receive(by, destination, part),
      );
      by.requireFields(form.fields);
      const placement = by.placementOf(form.fields);
      const sentAs = form.file.name;
      const now = await by.reauthenticate();
      const stored = by.link ? null : await this.#storeAtOnce(now, form.file, placement);
      if (stored) return { created: true, file: stored, sentAs };
      if (placement.on_conflict === 'replace') await this.#schedule.ensure();
      return this.#transactions.run(now, async (tx, caller) => {
        const { created, file } = await by.write(tx, this.#writer, caller, form.file, form.fields);
        return { created, file: fileSeenBy(caller, file), sentAs };
      });
    });
  }

  /**
   * Refuses a file that could not be made of `part`, as far as that is known before its content arrives. Throws what
   * `createReserved` does for it.
   */
  async requireTarget(by: Uploader, part: Omit<FilePart, 'stream' | 'signal'>): Promise<void> {
    by.requireFields(part.fields);
    await this.#target(by, part);
  }

  /**
   * Does what `create` does with content whose bytes `reservation` reserves. `also` runs in the transaction that makes the
   * file. Returns the file's id.
   */
  async createReserved(
    by: Uploader,
    part: FilePart,
    reservation: string,
    also: (tx: Tx, file: string) => Promise<void>,
  ): Promise<string> {
    const key = await this.#blobs.newKey();
    return this.#blobs.discardUnlessCommitted(async (into) => {
      const destination = { key, into, reservation: alreadyReserved(reservation), isReserved: true, signal: part.signal };
      const upload = await this.#receive(by, destination, part);
      const { on_conflict: onConflict } = by.placementOf(part.fields);
      const now = await by.reauthenticate();
      if (onConflict === 'replace') await this.#schedule.ensure();
      return this.#transactions.run(now, async (tx, caller) => {
        const { file } = await by.write(tx, this.#writer, caller, upload, part.fields);
        await also(tx, file.uuid);
        return file.uuid;
      });
    });
  }

  /** Refuses an upload before the bytes flow if its refusal is already certain. */
  async #receive(by: Uploader, destination: UploadDestination, part: FilePart): Promise<Upload> {
    const { name, claimed, target } = await this.#target(by, part);
    const quota = destination.isReserved ? { ...target, remainingBytes: Infinity } : target;
    return { name, target, ...(await this.#transfers.store(by.sender, destination, part, claimed, quota)) };
  }

  async #target(
    { actor, placementOf }: Uploader,
    part: Omit<FilePart, 'stream' | 'signal'>,
  ): Promise<{ name: string; claimed: string; target: UploadTarget }> {
    const name = uploadName(part);
    const claimed = uploadType(part, name);
    const fields = placementOf(part.fields);
    const target = await findUploadTarget(this.#db.tables, actor.userId, this.#clock.now(), {
      ...(fields.folder_id === undefined ? {} : { folderId: fields.folder_id }),
      ...(fields.on_conflict === 'replace' ? { replacing: name } : {}),
    });
    if (!target) throw new Problem('unauthenticated');
    if (fields.folder_id !== undefined) {
      const caller = { actor, granted: await actor.permissionSet() };
      requireLevel(target.folder && levelOn('folder', caller, target.folder), 'write');
    }
    return { name, claimed, target };
  }

  /**
   * Creates a file with the one statement that it shares with other uploads. Returns null if a transaction must decide and report
   * what is wrong. This statement and `FileWriter.create` apply the same rules.
   */
  async #storeAtOnce(actor: Actor, { name, mimeType, target, blob }: Upload, fields: UploadFields): Promise<SeenFile | null> {
    const { folder } = target;
    if (fields.on_conflict === 'replace' || blob.reservation !== undefined || folder?.uuid !== fields.folder_id) return null;
    const caller = { actor, granted: await actor.permissionSet() };
    if (folder && !allows(levelOn('folder', caller, folder), 'write')) return null;
    const path = pathOf(folder?.path ?? null, name);
    if (pathFault(path, 0) !== null) return null;
    const uuid = this.#random.uuid();
    const event = this.#events.fileCreated({ id: uuid, name, size: blob.size, owner_id: actor.userUuid });
    const stored = await this.#newFiles.store({
      uuid,
      name,
      path,
      mimeType,
      folder,
      blob,
      event,
      origin: originParameter(),
      ownerId: actor.userId,
      bucket: this.#bucket,
    });
    if (!stored) return null;
    const owner = { ownerUuid: actor.userUuid, ownerName: target.ownerName };
    return fileSeenBy(caller, { ...stored, ...owner, folder, ancestors: folder?.ancestors ?? [] });
  }
}
