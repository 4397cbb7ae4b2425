import type { Actor } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Events } from '../../events/events.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { ObjectMissing } from '../../store/s3/objects.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { UNKNOWN_TYPE } from '../blobs/media-type.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { copyFields } from '../model/files/file-writer.sql.ts';
import { FileWriter, type Placement } from '../model/files/file-writer.ts';
import type { FileCopy } from '../model/files/files.schema.ts';
import type { Files } from '../model/files/files.service.ts';
import { findFile } from '../model/files/files.sql.ts';
import { fileSeenBy, type SeenFile } from '../model/files/files.view.ts';
import type { UploadTransfers } from '../uploads/upload-transfers.ts';
import { findUploadTarget } from '../uploads/uploads.sql.ts';

/** Copies a file within the store. */
export class CopyFile {
  readonly #db: Database;
  readonly #transactions: AuthorizedTransactions;
  readonly #files: Files;
  readonly #blobs: Blobs;
  readonly #transfers: UploadTransfers;
  readonly #writer: FileWriter;
  readonly #clock: Clock;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    files: Files;
    blobs: Blobs;
    transfers: UploadTransfers;
    events: Events;
    clock: Clock;
    random: Random;
    bucket: string;
  }) {
    this.#db = deps.db;
    this.#transactions = authorizedTransactions(deps);
    this.#files = deps.files;
    this.#blobs = deps.blobs;
    this.#transfers = deps.transfers;
    this.#writer = new FileWriter(deps);
    this.#clock = deps.clock;
  }

  /**
   * Copies a file that the actor may read, with content, metadata and the actor's own tags, but without grants and older
   * versions. The actor owns the copy, which counts against their quota. Takes six statements, and one more each if the file is
   * not cached, in a folder, and larger than 8 MiB. Throws `not_found` (even if the file is deleted meanwhile), `forbidden`,
   * `name_conflict`, `quota_exceeded`, `too_many_transfers`, `validation_failed` (too long a path).
   */
  async copy(actor: Actor, id: string, input: FileCopy, request: RequestInfo): Promise<SeenFile> {
    const source = await this.#files.read(actor, id);
    const folderId = (input.folder_id === undefined ? source.folder?.uuid : input.folder_id) ?? undefined;
    const target = await findUploadTarget(
      this.#db.tables,
      actor.userId,
      this.#clock.now(),
      folderId === undefined ? {} : { folderId },
    );
    if (!target) throw new Problem('unauthenticated');
    if (folderId !== undefined)
      requireLevel(target.folder && levelOn('folder', { actor, granted: await actor.permissionSet() }, target.folder), 'write');
    const fields: Placement = { on_conflict: input.on_conflict, ...(folderId === undefined ? {} : { folder_id: folderId }) };
    return this.#transfers.run(
      { person: actor.userUuid },
      request,
      async ({ key, into, reservation, signal }) => {
        const mimeType = source.mimeType ?? UNKNOWN_TYPE;
        const from = { key: source.blobName, size: source.size, checksum: source.checksum, crc32: null };
        const options = { into, quota: target, reservation, contentType: mimeType, uploader: actor.userUuid, signal };
        const blob = await this.#blobs.copy(key, from, options).catch((error: unknown) => {
          throw error instanceof ObjectMissing ? new Problem('not_found', undefined, { cause: error }) : error;
        });
        into.committing();
        const now = await this.#transfers.reauthenticate(actor);
        return this.#transactions.run(now, async (tx, caller) => {
          const present = await findFile(tx, id);
          if (!present || present.deletedAt !== null) throw new Problem('not_found');
          requireLevel(levelOn('file', caller, present), 'read');
          const { file } = await this.#writer.create(
            tx,
            caller,
            { name: input.name ?? source.name, nameField: 'name', mimeType, target, blob },
            fields,
          );
          await copyFields(tx, { id: present.id, key: source.blobName }, file, { userId: now.userId, now: this.#clock.now() });
          return fileSeenBy(caller, file);
        });
      },
      source.size,
    );
  }
}
