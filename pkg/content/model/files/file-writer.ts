import type { Actor } from '../../../api/actor.ts';
import { invalid } from '../../../api/problem.ts';
import type { Events } from '../../../events/events.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
import type { Tx } from '../../../store/postgres/database.ts';
import { USERS_TAG } from '../../../accounts/users/users.tags.ts';
import { fileTag } from '../content.tags.ts';
import type { TaggedCache } from '../../../store/redis/tagged-cache.ts';
import type { Caller } from '../access/caller.ts';
import { hiddenAncestors } from '../access/inherited-access.policy.ts';
import { fileCreated, fileUpdated } from './files.events.ts';
import type { FileRecord } from './files.sql.ts';
import { lockFile } from './files.service.ts';
import { openFolder } from '../folders/folders.sql.ts';
import { nameConflict } from '../names/name-conflict.ts';
import { pathFault, pathOf } from '../names/names.policy.ts';
import { alternativeName, NAME_ATTEMPTS } from '../names/alternative-names.policy.ts';
import type { StoredBlob } from '../../blobs/blobs.ts';
import { countBytes } from '../../blobs/quota-reservation.sql.ts';
import { insertFile, insertVersion } from './file-writer.sql.ts';
import type { OnConflict } from './files.schema.ts';

/** Stored content that becomes a file or a version. */
export interface WritableContent {
  readonly mimeType: string;
  readonly blob: StoredBlob;
}

/** Stored content that becomes a file of this name. */
export interface WritableFile extends WritableContent {
  readonly name: string;
  /** The field of the request that has the name, if that is not the file itself. */
  readonly nameField?: string;
  readonly target: { readonly ownerName: string };
  /** The name that a sender by a share link typed. */
  readonly uploadedBy?: string;
}

/** The folder of a new file, and what happens if its name is taken there. */
export interface Placement {
  /** Undefined: the writer's root. */
  readonly folder_id?: string | undefined;
  readonly on_conflict: OnConflict;
}

/**
 * Turns stored content into a file or a version, in the transaction of its caller.
 *
 * Invariants:
 * - A file or version, its bytes in the quota, its event and the end of its cached copies are one transaction.
 * - `carrel.store_files_with_crc` (uploads/new-files.ts) applies the same rules to many uploads in one statement: a change here
 *   needs a change there (test/integration/content/ways-to-store.test.ts).
 */
export class FileWriter {
  readonly #cache: Pick<TaggedCache, 'invalidate'>;
  readonly #events: Events;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #bucket: string;

  constructor(deps: { cache: Pick<TaggedCache, 'invalidate'>; events: Events; clock: Clock; random: Random; bucket: string }) {
    this.#cache = deps.cache;
    this.#events = deps.events;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#bucket = deps.bucket;
  }

  /**
   * Makes a new file, or with `on_conflict=replace` perhaps a new version of the file that has its name. Throws
   * `name_conflict`, `quota_exceeded`, `validation_failed`, `not_found`, `forbidden`.
   */
  async create(tx: Tx, caller: Caller, upload: WritableFile, fields: Placement): Promise<{ created: boolean; file: FileRecord }> {
    const folder = fields.folder_id === undefined ? null : await openFolder(tx, caller, fields.folder_id, 'folder_id');
    for (let attempt = 0; attempt <= NAME_ATTEMPTS; attempt += 1) {
      const name = attempt === 0 || fields.on_conflict === 'replace' ? upload.name : alternativeName(upload.name, attempt);
      const file = await this.#insert(tx, caller, upload, name, folder);
      if (file) return { created: true, file };
      if (fields.on_conflict === 'fail') break;
      if (fields.on_conflict === 'replace') {
        const present = await this.#ofName(tx, caller, name, folder?.id ?? null);
        if (present) return { created: false, file: await this.replaceContent(tx, caller.actor, present, upload, null) };
      }
    }
    throw nameConflict();
  }

  async #insert(
    tx: Tx,
    caller: Caller,
    upload: WritableFile,
    name: string,
    folder: Awaited<ReturnType<typeof openFolder>> | null,
  ): Promise<FileRecord | null> {
    const { mimeType, blob } = upload;
    const path = pathOf(folder?.path ?? null, name);
    const fault = pathFault(path, hiddenAncestors(caller, folder?.ancestors ?? []));
    if (fault !== null)
      throw upload.nameField === undefined ? invalid('file', `its name ${fault}`) : invalid(upload.nameField, fault);
    const uuid = this.#random.uuid();
    const row = {
      uuid,
      name,
      path,
      mimeType,
      ownerId: caller.actor.userId,
      folderId: folder?.id ?? null,
      bucket: this.#bucket,
      blob,
      uploadedBy: upload.uploadedBy,
    };
    const inserted = await insertFile(tx, row);
    if (!inserted) return null;
    await this.#count(tx, caller.actor.userId, blob);
    this.#cache.invalidate(tx, USERS_TAG);
    const file: FileRecord = {
      ...inserted,
      ownerUuid: caller.actor.userUuid,
      ownerName: upload.target.ownerName,
      folder,
      ancestors: folder?.ancestors ?? [],
    };
    await this.#events.emit(tx, 'file.created', fileCreated(file));
    return file;
  }

  #count(tx: Tx, ownerId: number, { size, reservation }: StoredBlob): Promise<void> {
    return countBytes(tx, ownerId, size, { now: this.#clock.now(), reservation });
  }

  async #ofName(tx: Tx, caller: Caller, name: string, folderId: number | null): Promise<FileRecord | null> {
    const root = folderId === null ? { ownerId: caller.actor.userId } : {};
    const row = await tx.files.find({ folderId, name, deletedAt: null, ...root });
    return row && lockFile(tx, caller, row.uuid, 'write', {});
  }

  /** Makes the content the next version of a locked file. */
  async replaceContent(
    tx: Tx,
    actor: Actor,
    file: FileRecord,
    upload: WritableContent,
    comment: string | null,
  ): Promise<FileRecord> {
    const replaced = await insertVersion(tx, file, { ...upload, createdBy: actor.userId, comment });
    await this.#count(tx, file.ownerId, upload.blob);
    await this.#events.emit(tx, 'file.updated', fileUpdated(replaced, ['content']));
    this.#cache.invalidate(tx, fileTag(file.uuid), USERS_TAG);
    return replaced;
  }
}
