import type { Actor } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { requireMatch } from '../../api/etag.ts';
import { Problem } from '../../api/problem.ts';
import type { Events } from '../../events/events.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { FileWriter } from '../model/files/file-writer.ts';
import type { FileView } from '../model/files/files.schema.ts';
import { type Files, lockFile } from '../model/files/files.service.ts';
import { fileEtag, fileSeenBy, presentFile } from '../model/files/files.view.ts';
import type { VersionSchedule } from '../model/files/version-schedule.ts';
import type { UploadTransfers } from '../uploads/upload-transfers.ts';
import { sentName, uploadType, VERSION_FIELDS, versionFields } from '../uploads/uploads.schema.ts';
import { findUploadTarget } from '../uploads/uploads.sql.ts';

/**
 * Uploads the next version of a file.
 *
 * Invariants:
 * - The uploader's rights are checked again after the bytes have arrived, however long that took.
 * - The bytes count against the quota of the file's owner.
 */
export class AddVersion {
  readonly #db: Database;
  readonly #transactions: AuthorizedTransactions;
  readonly #files: Files;
  readonly #transfers: UploadTransfers;
  readonly #writer: FileWriter;
  readonly #schedule: VersionSchedule;
  readonly #clock: Clock;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    files: Files;
    transfers: UploadTransfers;
    events: Events;
    schedule: VersionSchedule;
    clock: Clock;
    random: Random;
    bucket: string;
  }) {
    this.#db = deps.db;
    this.#transactions = authorizedTransactions(deps);
    this.#files = deps.files;
    this.#transfers = deps.transfers;
    this.#writer = new FileWriter(deps);
    this.#schedule = deps.schedule;
    this.#clock = deps.clock;
  }

  /** Adds a version with new content to a file. The file keeps its name. */
  async add(actor: Actor, id: string, request: RequestInfo): Promise<FileView> {
    const file = await this.#files.read(actor, id);
    requireLevel(levelOn('file', { actor, granted: await actor.permissionSet() }, file), 'write');
    requireMatch(request.ifMatch, fileEtag(file));
    return this.#transfers.run({ person: actor.userUuid }, request, async (destination) => {
      const form = await this.#transfers.readForm(request, destination, VERSION_FIELDS, async (part) => {
        sentName(part);
        const claimed = uploadType(part, file.name);
        const target = await findUploadTarget(this.#db.tables, file.ownerId, this.#clock.now());
        if (!target) throw new Problem('not_found');
        return this.#transfers.store(actor.userUuid, destination, part, claimed, target);
      });
      const comment = versionFields(form.fields).comment ?? null;
      await this.#schedule.ensure();
      const uploader = await this.#transfers.reauthenticate(actor);
      return this.#transactions.run(uploader, async (tx, caller) => {
        const locked = await lockFile(tx, caller, id, 'write', { ifMatch: request.ifMatch });
        return presentFile(fileSeenBy(caller, await this.#writer.replaceContent(tx, uploader, locked, form.file, comment)));
      });
    });
  }
}
