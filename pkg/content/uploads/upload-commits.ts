import type { Actor } from '../../api/actor.ts';
import { invalid } from '../../api/problem.ts';
import type { Events } from '../../events/events.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import { fileTag } from '../model/content.tags.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { type Granted, hiddenAncestors } from '../model/access/inherited-access.policy.ts';
import { fileCreated, fileUpdated } from '../model/files/files.events.ts';
import type { FileRecord } from '../model/files/files.sql.ts';
import type { Files } from '../model/files/files.service.ts';
import { openFolder } from '../model/folders/folders.sql.ts';
import { nameConflict } from '../model/names/name-conflict.ts';
import { alternativeName, NAME_ATTEMPTS, pathFault, pathOf } from '../model/names/names.policy.ts';
import type { StoredBlob } from '../blobs/blobs.ts';
import type { Upload } from './upload.ts';
import { countBytes, insertFile, insertVersion } from './uploads.sql.ts';
import type { UploadFields } from './uploads.schema.ts';

/** What of an upload its commit needs. */
export type CommittedUpload = Omit<Upload, 'target'> & { readonly target: Pick<Upload['target'], 'ownerName'> };

/** Makes stored content a file or a version, in the transaction of whoever calls: each with its quota, event and caches. */
export class UploadCommits {
  readonly #cache: Pick<TaggedCache, 'invalidate'>;
  readonly #files: Files;
  readonly #events: Events;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #bucket: string;

  constructor(deps: {
    cache: Pick<TaggedCache, 'invalidate'>;
    files: Files;
    events: Events;
    clock: Clock;
    random: Random;
    bucket: string;
  }) {
    this.#cache = deps.cache;
    this.#files = deps.files;
    this.#events = deps.events;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#bucket = deps.bucket;
  }

  /**
   * A new file, or with `on_conflict=replace` perhaps a new version of the one that has its name. Throws `name_conflict`,
   * `quota_exceeded`, `validation_failed`, `not_found`, `forbidden`.
   */
  async commit(
    tx: Tx,
    actor: Actor,
    granted: Granted,
    upload: CommittedUpload,
    fields: UploadFields,
  ): Promise<{ created: boolean; file: FileRecord }> {
    const folder = fields.folder_id === undefined ? null : await openFolder(tx, actor, granted, fields.folder_id, 'folder_id');
    for (let attempt = 0; attempt <= NAME_ATTEMPTS; attempt += 1) {
      const name = attempt === 0 || fields.on_conflict === 'replace' ? upload.name : alternativeName(upload.name, attempt);
      const file = await this.#insert(tx, actor, granted, upload, name, folder);
      if (file) return { created: true, file };
      if (fields.on_conflict === 'fail') break;
      if (fields.on_conflict === 'replace') {
        const present = await this.#ofName(tx, actor, granted, name, folder?.id ?? null);
        if (present) return { created: false, file: await this.replaceContent(tx, actor, present, upload, null) };
      }
    }
    throw nameConflict();
  }

  async #insert(
    tx: Tx,
    actor: Actor,
    granted: Granted,
    upload: CommittedUpload,
    name: string,
    folder: Awaited<ReturnType<typeof openFolder>> | null,
  ): Promise<FileRecord | null> {
    const { mimeType, blob } = upload;
    const path = pathOf(folder?.path ?? null, name);
    const fault = pathFault(path, hiddenAncestors(actor, folder?.ancestors ?? [], granted));
    if (fault !== null)
      throw upload.nameField === undefined ? invalid('file', `its name ${fault}`) : invalid(upload.nameField, fault);
    const uuid = this.#random.uuid();
    const row = { uuid, name, path, mimeType, ownerId: actor.userId, folderId: folder?.id ?? null, bucket: this.#bucket, blob };
    const inserted = await insertFile(tx, row);
    if (!inserted) return null;
    await this.#count(tx, actor.userId, blob);
    this.#cache.invalidate(tx, USERS_TAG);
    const file: FileRecord = {
      ...inserted,
      ownerUuid: actor.userUuid,
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

  async #ofName(tx: Tx, actor: Actor, granted: Granted, name: string, folderId: number | null): Promise<FileRecord | null> {
    const root = folderId === null ? { ownerId: actor.userId } : {};
    const row = await tx.files.find({ folderId, name, deletedAt: null, ...root });
    return row && this.#files.lock(tx, actor, granted, row.uuid, 'write', {});
  }

  /** The next version of a file that is held. */
  async replaceContent(
    tx: Tx,
    actor: Actor,
    file: FileRecord,
    upload: Pick<Upload, 'blob' | 'mimeType'>,
    comment: string | null,
  ): Promise<FileRecord> {
    const replaced = await insertVersion(tx, file, { ...upload, createdBy: actor.userId, comment });
    await this.#count(tx, file.ownerId, upload.blob);
    await this.#events.emit(tx, 'file.updated', fileUpdated(replaced, ['content']));
    this.#cache.invalidate(tx, fileTag(file.uuid), USERS_TAG);
    return replaced;
  }
}
