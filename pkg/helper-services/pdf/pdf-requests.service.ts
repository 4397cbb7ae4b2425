import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import { authorizedTransactions, type AuthorizedTransactions } from '../../content/model/access/authorized-transactions.ts';
import { levelOn, requireLevel } from '../../content/model/access/inherited-access.policy.ts';
import type { Files } from '../../content/model/files/files.service.ts';
import type { FileRecord } from '../../content/model/files/files.sql.ts';
import type { VersionSchedule } from '../../content/model/files/version-schedule.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { ObjectMissing, type Objects } from '../../store/s3/objects.ts';
import type { TenantSeal } from '../../store/tenant-resources.ts';
import type { TaskRequests } from '../../tasks/task-requests.ts';
import type { TaskView } from '../../tasks/tasks.schema.ts';
import type { HelperKind } from '../helper.ts';
import { helpersOf } from '../helpers.sql.ts';
import { requireHelper } from '../require-helper.ts';
import type { FileTranslationRequest, OptimizationRequest } from '../helper-services.schema.ts';
import { isPdf, PdfScan } from './pdf-scan.ts';
import { addFileItem } from './pdf.sql.ts';
import { requireConvertible } from './pdf-refusals.ts';
import { OPTIMIZE, type PdfArguments, TRANSLATE } from './pdf-tasks.ts';

const HEAD_BYTES = 1024;
/** Contains the trailer and usually the last signature. The worker scans the rest. */
const TAIL_BYTES = 256 * 1024;

/** Requests conversions of PDFs; pdf.processor.ts carries them out. Refuses at once what is visible at once. */
export class PdfRequests {
  readonly #db: Database;
  readonly #seal: TenantSeal;
  readonly #objects: Objects;
  readonly #files: Files;
  readonly #tasks: TaskRequests;
  readonly #versions: VersionSchedule;
  readonly #transactions: AuthorizedTransactions;
  readonly #maxBytes: number;

  constructor(deps: {
    db: Database;
    seal: TenantSeal;
    cache: TaggedCache;
    objects: Objects;
    files: Files;
    tasks: TaskRequests;
    versions: VersionSchedule;
    /** Maximum bytes of one file. */
    maxBytes: number;
  }) {
    this.#db = deps.db;
    this.#seal = deps.seal;
    this.#objects = deps.objects;
    this.#files = deps.files;
    this.#tasks = deps.tasks;
    this.#versions = deps.versions;
    this.#transactions = authorizedTransactions(deps);
    this.#maxBytes = deps.maxBytes;
  }

  /**
   * Requires read access, and write access if the result becomes a version. Seven statements and two reads of the store. Throws
   * `helper_not_configured`, `not_found`, `forbidden`, `unsupported_media_type`, `pdf_signed`, `pdf_encrypted`, and `conflict`
   * for too many jobs.
   */
  async optimize(actor: Actor, id: Uuid, { quality, as, force }: OptimizationRequest): Promise<TaskView> {
    const of = await this.#open(actor, id, as, 'pdf_optimize', force);
    const given = { arguments: { ...of.arguments, quality, force } };
    return this.#request(actor, of.file, (tx) => this.#tasks.request(tx, OPTIMIZE, actor.userId, given));
  }

  /**
   * Requests a translation, with the requirements of `optimize`. A translated copy leaves the signed file unchanged, so a signed
   * PDF may be translated into a copy.
   */
  async translate(actor: Actor, id: Uuid, request: FileTranslationRequest): Promise<TaskView> {
    const { as, target_language: target, source_language: source } = request;
    const of = await this.#open(actor, id, as, 'pdf_translate', as === 'copy');
    const given = { arguments: { ...of.arguments, target, source } };
    return this.#request(actor, of.file, (tx) => this.#tasks.request(tx, TRANSLATE, actor.userId, given));
  }

  async #open(actor: Actor, id: Uuid, as: PdfArguments['as'], kind: HelperKind, force: boolean) {
    requireHelper(await helpersOf(this.#db, this.#seal), kind);
    const file = await this.#files.read(actor, id);
    if (as === 'version') requireLevel(levelOn('file', { actor, granted: await actor.permissionSet() }, file), 'write');
    await this.#requirePdf(file, force);
    if (as === 'version') await this.#versions.ensure();
    const permissions = [...actor.permissions];
    const subject = { type: 'file' as const, id, name: file.name };
    return { file, arguments: { file: id, subject, as, permissions, maxBytes: this.#maxBytes } };
  }

  async #requirePdf(file: Pick<FileRecord, 'blobName' | 'size'>, force: boolean): Promise<void> {
    const last = file.size - 1;
    const head =
      file.size === 0 ? Buffer.alloc(0) : await this.#read(file.blobName, { start: 0, end: Math.min(HEAD_BYTES - 1, last) });
    if (!isPdf(head)) throw new Problem('unsupported_media_type', 'The file is not a PDF, whatever its name says.');
    const scan = new PdfScan();
    scan.add(await this.#read(file.blobName, { start: Math.max(0, file.size - TAIL_BYTES), end: last }));
    requireConvertible(scan.marks, force);
  }

  async #read(key: string, range: { start: number; end: number }): Promise<Buffer> {
    try {
      const { body } = await this.#objects.get(key, { range });
      return Buffer.concat((await body.toArray()) as Buffer[]);
    } catch (error) {
      throw error instanceof ObjectMissing ? new Problem('not_found', undefined, { cause: error }) : error;
    }
  }

  #request(actor: Actor, file: Pick<FileRecord, 'uuid' | 'name'>, request: (tx: Tx) => Promise<TaskView>): Promise<TaskView> {
    return this.#transactions.run(actor, async (tx) => {
      const task = await request(tx);
      await addFileItem(tx, task.id, file);
      return { ...task, progress: { ...task.progress, total: 1 } };
    });
  }
}
