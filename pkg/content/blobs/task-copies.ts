import type { JobContext, WorkerServices } from '../../events/processor.ts';
import { Problem } from '../../api/problem.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';
import { ObjectMissing } from '../../store/s3/objects.ts';
import type { HeldTask, TaskSteps } from '../../tasks/task-processor.ts';
import { Blobs, type NewObjects } from './blobs.ts';
import { releaseReservation, type ReservationOf, reserveFitting } from './quota-reservation.sql.ts';
import { UNKNOWN_TYPE } from './media-type.ts';
import { alreadyReserved } from './quota-reservation.service.ts';
import { GIB } from '../../runtime/bytes.ts';

/** The contents of a step, where it is more than one. */
const STEP_BYTES = 2 * GIB;
/** Contents that the store copies at once for one task. */
const COPIES_AT_ONCE = 8;
/** While contents are copied, a task that was cancelled is noticed this often. */
const CHECK_EVERY_MS = 500;

/** The task that copies contents, and its user. */
export interface Copier {
  /** The uuid of the task, also that of its reservation. */
  readonly task: string;
  readonly userId: number;
  readonly userUuid: string;
}

/** The content that an item of a task is to have a copy of. */
export interface SourceContent {
  readonly id: number;
  readonly key: string;
  /** bytes */
  readonly size: number;
  /** Hex SHA-256. */
  readonly checksum: string;
  /** Null: not known. */
  readonly crc32: number | null;
  readonly mimeType: string | null;
  /** Bytes of its file's metadata, which count too. */
  readonly metadataBytes: number;
}

/** A content that is in the store, for the copy of an item. */
export interface CopiedBlob extends Omit<SourceContent, 'metadataBytes'> {
  readonly isEncrypted: boolean;
}

/** Copied contents, of which a transaction makes files. */
export interface Copies {
  readonly bucket: string;
  readonly stored: readonly CopiedBlob[];
  /** Items whose content is gone. */
  readonly gone: readonly number[];
}

/** Returns the first contents that a step copies, and reserves their quota; `over`: the contents that do not fit into it. */
export async function reserveCopies<T extends SourceContent>(
  sql: Executor,
  of: ReservationOf,
  contents: readonly T[],
): Promise<{ fitting: readonly T[]; over: readonly T[] }> {
  const first = upTo(STEP_BYTES, contents);
  const counted = first.map((content) => ({ content, size: content.size + content.metadataBytes }));
  const fitting = (await reserveFitting(sql, of, counted)).map(({ content }) => content);
  const fits = new Set(fitting);
  return { fitting, over: first.filter((content) => !fits.has(content)) };
}

/** Returns the first ones, at least one. */
function upTo<T extends { readonly size: number }>(bytes: number, contents: readonly T[]): T[] {
  let sum = 0;
  return contents.filter(({ size }, at) => (sum += size) <= bytes || at === 0);
}

/**
 * Copies contents within the store after their quota was reserved. Then `commit` creates files from them in a step, and returns
 * the items of these. Contents without a file are deleted. If the reservation expired and others took the quota, no file is
 * created.
 */
export async function copyContents<Arguments>(
  services: WorkerServices,
  { context, step }: TaskSteps<Arguments>,
  { copier, contents }: { readonly copier: Copier; readonly contents: readonly SourceContent[] },
  commit: (tx: Tx, task: HeldTask<Arguments>, copies: Copies) => Promise<ReadonlySet<number>>,
): Promise<void> {
  const { objects } = await context.storage();
  const blobs = new Blobs({ ...services, db: context.db, objects });
  const targets: Target[] = [];
  for (const content of contents) targets.push({ ...content, from: content.key, key: await blobs.newKey() });
  try {
    await blobs.discardUnlessCommitted(async (into) => {
      const copied = await copyAll(blobs, into, context, copier, targets, stillThere(services, step));
      const stored = targets.flatMap(({ from: _from, metadataBytes: _metadata, ...target }) => {
        const said = copied.get(target.id);
        return said ? [{ ...target, isEncrypted: said.isEncrypted }] : [];
      });
      const gone = targets.filter(({ id }) => !copied.get(id)).map(({ id }) => id);
      const used = await step((tx, task) => {
        into.committing();
        return commit(tx, task, { bucket: objects.bucket, stored, gone });
      });
      await blobs.discard(targets.filter(({ id }) => !used.has(id)).map(({ key }) => key));
    });
  } catch (error) {
    await context.transaction((tx) => releaseReservation(tx, copier.task)).catch(() => undefined); // else it expires
    if (!(error instanceof Problem && error.code === 'quota_exceeded')) throw error;
  }
}

/** A content before it is copied. */
type Target = SourceContent & { readonly from: string };
/** The store's answer for each copy, by item; null: the content is gone. */
type Copied = ReadonlyMap<number, { readonly isEncrypted: boolean } | null>;

/** Returns a check, to be called often, that throws once the task has ended. It asks the database now and then. */
function stillThere<Arguments>({ clock }: WorkerServices, step: TaskSteps<Arguments>['step']): () => Promise<void> {
  let looked = clock.monotonic();
  return async () => {
    if (clock.monotonic() - looked < CHECK_EVERY_MS) return;
    looked = clock.monotonic();
    await step(async () => undefined);
  };
}

async function copyAll(
  blobs: Blobs,
  into: NewObjects,
  { signal }: JobContext,
  { task, userId, userUuid: uploader }: Copier,
  targets: readonly Target[],
  look: () => Promise<void>,
): Promise<Copied> {
  const quota = { ownerId: userId, remainingBytes: Infinity, isOfTenant: false };
  const reservation = alreadyReserved(task);
  const copied = new Map<number, { readonly isEncrypted: boolean } | null>();
  const queue = targets.values();
  let isOver = false;
  const copyNext = async (): Promise<void> => {
    for (const { id, from, size, checksum, crc32, key, mimeType } of queue) {
      if (isOver) return;
      signal.throwIfAborted();
      try {
        await look();
        const options = { into, quota, reservation, uploader, contentType: mimeType ?? UNKNOWN_TYPE, signal };
        copied.set(id, await blobs.copy(key, { key: from, size, checksum, crc32 }, options));
      } catch (error) {
        isOver = !(error instanceof ObjectMissing);
        if (isOver) throw error;
        copied.set(id, null);
      }
    }
  };
  // Wait for all copies before deleting anything, so that none writes an object afterwards.
  const ended = await Promise.allSettled(Array.from({ length: COPIES_AT_ONCE }, copyNext));
  const failure = ended.find((one) => one.status === 'rejected');
  if (failure) throw failure.reason;
  return copied;
}
