import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { Caller } from '../../content/model/access/caller.ts';
import { allows, levelOn, requireLevel } from '../../content/model/access/inherited-access.policy.ts';
import { requesterOf } from '../../content/model/access/requester.ts';
import { lockFile } from '../../content/model/files/files.service.ts';
import { type FileRecord, findFile } from '../../content/model/files/files.sql.ts';
import { fileSeenBy } from '../../content/model/files/files.view.ts';
import { findFolder } from '../../content/model/folders/folders.sql.ts';
import { nameWith } from '../../content/model/names/alternative-names.policy.ts';
import { Blobs, type NewObjects, type StoredBlob } from '../../content/blobs/blobs.ts';
import { Reservation } from '../../content/blobs/quota-reservation.service.ts';
import { FileWriter } from '../../content/model/files/file-writer.ts';
import { findUploadTarget, type UploadTarget } from '../../content/uploads/uploads.sql.ts';
import { copyFields } from '../../content/model/files/file-writer.sql.ts';
import type { JobContext, WorkerServices } from '../../events/processor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { Objects } from '../../store/s3/objects.ts';
import { type HeldTask, TaskOver, type TaskSteps } from '../../tasks/task-processor.ts';
import type { Conversion, HelperCalls } from '../calls/helper-calls.ts';
import type { HelperChecks } from '../calls/helper-checks.ts';
import type { HelperLanguages } from '../calls/replies.policy.ts';
import type { Helper, HelperKind } from '../helper.ts';
import { helpersOf } from '../helpers.sql.ts';
import { requireHelper } from '../require-helper.ts';
import { isRunning, setResult } from './pdf.sql.ts';
import type { PdfArguments } from './pdf-tasks.ts';
import { SourcePdf } from './source-pdf.ts';

const PDF = 'application/pdf';
/** The transfer of a canceled job ends within this time; the contract promises one second. */
const CHECK_EVERY_MS = 500;
/** Minimum saving of an optimized file: less does not justify a version. */
const SAVED_MIN = 0.05;
const SAVED_MIN_BYTES = 4 * 1024;

export interface Helpers {
  readonly calls: HelperCalls;
  readonly checks: HelperChecks;
}

/** A request to the helper, and how to store its result. */
export interface PlannedConversion<Arguments extends PdfArguments> {
  readonly kind: HelperKind;
  readonly path: Conversion['path'];
  /** Whether a result that is not smaller is discarded. */
  readonly mustBeSmaller: boolean;
  takesSigned(given: Arguments): boolean;
  fields(
    given: Arguments,
    spelling: (of: keyof HelperLanguages, tag: string) => Promise<string>,
  ): Promise<Readonly<Record<string, string>>>;
  /** The word that is added to the name of a copy. */
  name(given: Arguments): string;
  /** The comment of a version. */
  comment(given: Arguments): string;
}

/** The current requester and file of a conversion. */
interface Begun<Arguments> {
  readonly task: string;
  readonly given: Arguments;
  readonly actor: Actor;
  readonly file: FileRecord;
  /** The quota that the result counts against. */
  readonly quota: UploadTarget;
}

/** Converts one PDF and stores the result, from the first step of the task to its last. Throws Problem. */
export async function convert<Arguments extends PdfArguments>(
  services: WorkerServices,
  helpers: Helpers,
  steps: TaskSteps<Arguments>,
  planned: PlannedConversion<Arguments>,
): Promise<void> {
  const { context } = steps;
  const { objects } = await context.storage();
  const begun = await steps.step((tx, task) => begin(services, tx, task));
  if (!begun) return;
  const seal = await services.seals.of(context.slug);
  const helper = requireHelper(await helpersOf(context.db, seal), planned.kind);
  const spelling = (of: keyof HelperLanguages, tag: string): Promise<string> =>
    helpers.checks.spelling(seal.tenantId, helper, of, tag);
  const fields = await planned.fields(begun.given, spelling);
  const ask = { calls: helpers.calls, tenant: seal.tenantId, helper, fields, path: planned.path };
  await untilOver(services, context, begun.task, (signal) =>
    storeResult(services, steps, { objects, begun, planned, ask, signal }),
  );
}

/** Returns null if the task has nothing to do. */
async function begin<Arguments extends PdfArguments>(
  { clock }: WorkerServices,
  tx: Tx,
  task: HeldTask<Arguments>,
): Promise<Begun<Arguments> | null> {
  const [item] = await task.next({ files: 1, folders: 1 });
  if (!item) {
    await task.succeed();
    return null;
  }
  const now = clock.now();
  const caller = await requesterOf(tx, task, 'write:files', now, task.arguments.permissions);
  const { as } = task.arguments;
  const file = await findFile(tx, task.arguments.file);
  if (!file || file.deletedAt !== null) throw new Problem('not_found', 'The file no longer exists.');
  requireLevel(levelOn('file', caller, file), as === 'version' ? 'write' : 'read');
  const quota = await findUploadTarget(tx, as === 'version' ? file.ownerId : caller.actor.userId, now);
  if (!quota) throw new Problem('not_found', 'The file no longer exists.');
  return { task: task.uuid, given: task.arguments, actor: caller.actor, file, quota };
}

interface Work<Arguments extends PdfArguments> {
  readonly objects: Objects;
  readonly begun: Begun<Arguments>;
  readonly planned: PlannedConversion<Arguments>;
  readonly ask: {
    readonly calls: HelperCalls;
    readonly tenant: string;
    readonly helper: Helper;
    readonly fields: Readonly<Record<string, string>>;
    readonly path: Conversion['path'];
  };
  readonly signal: AbortSignal;
}

async function storeResult<Arguments extends PdfArguments>(
  services: WorkerServices,
  { context, step }: TaskSteps<Arguments>,
  work: Work<Arguments>,
): Promise<void> {
  const { clock, random, log } = services;
  const { objects, begun, planned } = work;
  const blobs = new Blobs({ ...services, db: context.db, objects });
  const reservation = new Reservation({ sql: context.db.tables, uuid: random.uuid(), most: undefined, clock, log });
  const key = await blobs.newKey();
  try {
    await blobs.discardUnlessCommitted(async (into) => {
      const blob = await received(blobs, into, reservation, key, work);
      if (planned.mustBeSmaller && !isSmaller(begun.file.size, blob.size)) {
        await blobs.discard([key]);
        await reservation.release();
        return step((tx, task) => endUnkept(tx, task, begun.file, blob.size));
      }
      const writer = new FileWriter({ ...services, cache: context.cache, bucket: objects.bucket });
      await step((tx, task) => {
        into.committing();
        return commit(services, writer, tx, task, { begun, planned, blob });
      });
    });
  } catch (error) {
    await reservation.release();
    throw error;
  }
}

/** Stores the helper's result and returns it. */
async function received<Arguments extends PdfArguments>(
  blobs: Blobs,
  into: NewObjects,
  reservation: Reservation,
  key: string,
  { objects, begun, planned, ask, signal }: Work<Arguments>,
): Promise<StoredBlob> {
  const { file, given, quota, actor } = begun;
  const source = new SourcePdf(objects, file, { takesSigned: planned.takesSigned(given), signal });
  const conversion = { path: ask.path, fields: ask.fields, file: source, maxBytes: given.maxBytes, signal };
  const { blob } = await ask.calls.convert(ask.tenant, ask.helper, conversion, (pdf) =>
    blobs.store(key, pdf, { into, quota, reservation, uploader: actor.userUuid, contentType: PDF, signal }),
  );
  if (!source.isSeenThrough) throw new Problem('helper_rejected', 'The helper answered before it had the whole PDF.');
  return blob;
}

const isSmaller = (before: number, after: number): boolean =>
  after <= before * (1 - SAVED_MIN) && before - after >= SAVED_MIN_BYTES;

async function endUnkept<Arguments>(tx: Tx, task: HeldTask<Arguments>, file: FileRecord, sizeAfter: number): Promise<void> {
  const sizes = { size_before: file.size, size_after: sizeAfter };
  await end(tx, task, { file_id: file.uuid, version_number: file.version, ...sizes, kept: false });
}

async function end<Arguments>(
  tx: Tx,
  task: HeldTask<Arguments>,
  result: Record<string, string | number | boolean>,
): Promise<void> {
  const [item] = await task.next({ files: 1, folders: 1 });
  await setResult(tx, task.id, result);
  if (item) await task.end([{ id: item.id, code: null }]);
  await task.succeed();
}

interface Result<Arguments extends PdfArguments> {
  readonly begun: Begun<Arguments>;
  readonly planned: PlannedConversion<Arguments>;
  readonly blob: StoredBlob;
}

async function commit<Arguments extends PdfArguments>(
  { clock }: WorkerServices,
  writer: FileWriter,
  tx: Tx,
  task: HeldTask<Arguments>,
  { begun, planned, blob }: Result<Arguments>,
): Promise<void> {
  const { given } = begun;
  const now = clock.now();
  const caller = await requesterOf(tx, task, 'write:files', now, given.permissions);
  const file = await lockFile(tx, caller, given.file, given.as === 'version' ? 'write' : 'read', {});
  const content = { mimeType: PDF, blob };
  const made =
    given.as === 'version'
      ? await writer.replaceContent(tx, caller.actor, unchanged(file, begun.file), content, planned.comment(given))
      : await copyOf(
          writer,
          tx,
          caller,
          file,
          { ...content, name: nameWith(file.name, planned.name(given)), target: begun.quota },
          now,
        );
  const sizes = planned.mustBeSmaller ? { size_before: begun.file.size, size_after: blob.size, kept: true } : {};
  await end(tx, task, { file_id: made.uuid, version_number: made.version, ...sizes });
}

function unchanged(file: FileRecord, before: FileRecord): FileRecord {
  if (file.version === before.version) return file;
  throw new Problem('conflict', 'The file has a new version; request the conversion again.');
}

/**
 * Creates the copy beside the file if its requester may write there, otherwise in their root; with its metadata and the
 * requester's own tags, like every copy.
 */
async function copyOf(
  writer: FileWriter,
  tx: Tx,
  caller: Caller,
  file: FileRecord,
  content: Parameters<FileWriter['create']>[2],
  now: Date,
): Promise<FileRecord> {
  const seen = fileSeenBy(caller, file).folder?.uuid;
  const folder = seen === undefined ? null : await findFolder(tx, seen);
  const isWritable = folder?.deletedAt === null && allows(levelOn('folder', caller, folder), 'write');
  const fields = { on_conflict: 'rename', ...(isWritable ? { folder_id: folder.uuid } : {}) } as const;
  const { file: copy } = await writer.create(tx, caller, content, fields);
  // Findings about the file's own content do not apply to the copy.
  await copyFields(tx, { id: file.id, key: content.blob.key }, copy, { userId: caller.actor.userId, now });
  return copy;
}

/**
 * Runs `work` with a signal that is aborted when the task has ended meanwhile, or when another worker has the job; then throws
 * the reason.
 */
async function untilOver<T>(
  { clock }: WorkerServices,
  { db, signal }: JobContext,
  task: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [over, done] = [new AbortController(), new AbortController()];
  const check = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(CHECK_EVERY_MS, done.signal);
      // A database that does not answer decides nothing; the last step does.
      if (!(await isRunning(db, task).catch(() => true))) return over.abort(new TaskOver('the task has ended'));
    }
  };
  void check().catch(() => undefined); // The work is done.
  try {
    return await work(AbortSignal.any([signal, over.signal]));
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : error;
  } finally {
    done.abort(new Error('done'));
  }
}
