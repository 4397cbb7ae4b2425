import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { NestedServices } from '../../events/nested-services.ts';
import type { JobContext, WorkerServices } from '../../events/processor.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { LimitReached } from '../../store/postgres/errors.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { inSavepoint } from '../../store/postgres/savepoint.ts';
import type { HeldTask } from '../../tasks/task-processor.ts';
import type { ItemEnd, TaskItem } from '../../tasks/task-steps.sql.ts';
import { levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { refusalOf } from '../model/files/files.service.ts';
import { findFiles } from '../model/files/files.sql.ts';
import { copyFiles, holdFoldersOfCopies, type MadeFile, sourceFiles } from '../folders/copy-folder.sql.ts';
import { faultOf, GONE, OVER_QUOTA } from '../folders/copy-folder.processor.ts';
import { foldersByUuid, requireOpen } from '../model/folders/folders.sql.ts';
import { alternativeName, NAME_ATTEMPTS } from '../model/names/alternative-names.policy.ts';
import { releaseReservation } from '../blobs/quota-reservation.sql.ts';
import { type CopiedBlob, type Copier, type Copies, reserveCopies, type SourceContent } from '../blobs/task-copies.ts';
import { countBytes } from '../blobs/quota-reservation.sql.ts';
import type { BatchArguments } from './batch-task.ts';
import type { ArgumentsOf } from './batch.schema.ts';

type Task = HeldTask<BatchArguments>;

/** Items whose contents are copied between two steps, once their quota is reserved. */
export interface Copying {
  readonly copier: Copier;
  readonly items: readonly TaskItem[];
  readonly contents: readonly SourceContent[];
}

const givenOf = ({ arguments: { given } }: Task): ArgumentsOf<'copy'> => given as ArgumentsOf<'copy'>;

/**
 * Reserves quota for the files of a step whose contents can be copied, and returns them; ends the others. Returns null if there
 * are none.
 */
export async function reserved(tx: Tx, task: Task, actor: Actor, items: readonly TaskItem[], now: Date): Promise<Copying | null> {
  const { fitting, ends } = await fittingOf(tx, task, actor, items, now);
  await task.end(ends);
  if (fitting.length === 0) return null;
  const ids = new Set(fitting.map(({ id }) => id));
  const copier = { task: task.uuid, userId: actor.userId, userUuid: actor.userUuid };
  return { copier, items: items.filter(({ id }) => ids.has(id)), contents: fitting };
}

/** Creates files from contents, with the requester's current rights; returns the items of the new files. */
export async function commitCopies(
  { clock, events, cache }: Pick<WorkerServices & JobContext, 'clock' | 'events' | 'cache'>,
  tx: Tx,
  task: Task,
  { items }: Copying,
  { bucket, stored, gone }: Copies,
  actorOf: (tx: Tx, task: Task) => Promise<Actor>,
): Promise<ReadonlySet<number>> {
  const now = clock.now();
  const { folder_id: into } = givenOf(task);
  await holdFoldersOfCopies(
    tx,
    task.id,
    items.map(({ id }) => id),
    into,
  );
  const actor = await actorOf(tx, task).catch((error: unknown) =>
    error instanceof Problem ? null : Promise.reject(error as Error),
  );
  if (actor === null) {
    await releaseReservation(tx, task.uuid);
    return new Set();
  }
  const { refused, names } = await decided(tx, task, actor, items);
  const allowed = stored.filter(({ id }) => !refused.has(id));
  const made = await makeFiles(tx, task, names, allowed, { userId: actor.userId, bucket, now });
  const bytes = allowed.reduce((sum, { id, size }) => (made.ids.has(id) ? sum + size : sum), made.metadataBytes);
  await countBytes(tx, actor.userId, bytes, { now, reservation: task.uuid });
  await task.end([...refusals(refused), ...made.ends, ...gone.filter((id) => !refused.has(id)).map((id) => ({ id, ...GONE }))]);
  cache.invalidate(tx, USERS_TAG);
  if (made.deliveries > 0) events.notifyAfterCommit(tx);
  return made.ids;
}

/**
 * Returns the items whose result is known before anything is copied. Files below a copied folder always find their names free;
 * they fail only if the quota has no room.
 */
export async function endsWithoutCopies(
  nested: NestedServices,
  tx: Tx,
  task: Task,
  actor: Actor,
  items: readonly TaskItem[],
  now: Date,
) {
  const made = async (): Promise<ItemEnd[]> => {
    const { fitting, ends, names } = await fittingOf(tx, task, actor, items, now);
    const below = new Set(items.filter(({ copyIn }) => copyIn !== null).map(({ id }) => id));
    const blobs = fitting
      .filter(({ id }) => !below.has(id))
      .map((content) => ({ ...content, key: `dry-run/${content.id}`, isEncrypted: false }));
    const { ends: others } = await makeFiles(tx, task, names, blobs, { userId: actor.userId, bucket: 'dry-run', now });
    const succeeded = fitting.filter(({ id }) => below.has(id)).map(({ id }): ItemEnd => ({ id, code: null }));
    return [...ends, ...succeeded, ...others.map(({ id, code, message = '' }) => ({ id, code, message }))];
  };
  return nested.call(made, { undone: true });
}

/** Does the same for folders that are below others. */
export async function endsOfFoldersBelow(tx: Tx, task: Task, actor: Actor, items: readonly TaskItem[]): Promise<ItemEnd[]> {
  const caller = { actor, granted: await actor.permissionSet() };
  const there = new Map((await foldersByUuid(tx, targetsOf(items))).map((folder) => [folder.uuid, folder]));
  const parents = await copiedFolders(tx, task.id, items);
  return items.map(({ id, target, copyIn }): ItemEnd => {
    const folder = there.get(target);
    const problem = refusalOf(() => {
      if (copyIn === null || !parents.has(copyIn))
        throw new Problem('not_found', 'The destination folder of the copy no longer exists.');
      requireLevel(folder ? levelOn('folder', caller, folder) : null, 'read');
    });
    return problem ? { id, code: problem.code, message: problem.message } : { id, code: null };
  });
}

interface Fitting {
  readonly fitting: readonly SourceContent[];
  /** The ends of the other items; an item that does not belong to this step is in neither list. */
  readonly ends: readonly ItemEnd[];
  readonly names: ReadonlyMap<number, string>;
}

async function fittingOf(tx: Tx, task: Task, actor: Actor, items: readonly TaskItem[], now: Date): Promise<Fitting> {
  const { refused, names } = await decided(tx, task, actor, items);
  const allowed = items.filter(({ id }) => !refused.has(id)).map(({ id }) => id);
  const found = await sourceFiles(tx, task.id, allowed, { into: givenOf(task).folder_id });
  const contents = found.flatMap((file) => (file.key === null ? [] : [{ ...file, key: file.key }]));
  const { fitting, over } = await reserveCopies(tx, { id: task.uuid, ownerId: actor.userId, now }, contents);
  const gone = found.filter(({ key }) => key === null).map(({ id }) => ({ id, ...GONE }));
  return { fitting, names, ends: [...refusals(refused), ...gone, ...over.map(({ id }) => ({ id, ...OVER_QUOTA }))] };
}

interface Decided {
  readonly refused: ReadonlyMap<number, Problem>;
  /** The sources, by their items. */
  readonly names: ReadonlyMap<number, string>;
}

/** Returns the items that the requester may not copy, or not to that folder. Two statements, one more for a dry run. */
async function decided(tx: Tx, task: Task, actor: Actor, items: readonly TaskItem[]): Promise<Decided> {
  const caller = { actor, granted: await actor.permissionSet() };
  const { folder_id: into } = givenOf(task);
  const destinationOf = ({ copyIn }: TaskItem): string | null => copyIn ?? into;
  const isPlanned = task.arguments.dryRun ? await copiedFolders(tx, task.id, items) : new Set<string>();
  const uuids = [...new Set(items.map(destinationOf))].filter((uuid) => uuid !== null);
  const folders = new Map((await foldersByUuid(tx, uuids)).map((folder) => [folder.uuid, folder]));
  const files = await findFiles(tx, targetsOf(items));
  const refused = new Map<number, Problem>();
  const names = new Map<number, string>();
  for (const [at, item] of items.entries()) {
    const file = files[at];
    const destination = destinationOf(item);
    const problem = refusalOf(() => {
      if (!actor.permissions.has('write:files')) throw new Problem('forbidden', 'Requires the permission write:files.');
      if (destination !== null && !isPlanned.has(destination)) requireOpen(caller, folders.get(destination) ?? null, 'folder_id');
      if (!file || file.deletedAt !== null) throw new Problem('not_found');
      requireLevel(levelOn('file', caller, file), 'read');
    });
    if (problem) refused.set(item.id, problem);
    else if (file) names.set(item.id, file.name);
  }
  return { refused, names };
}

/** Returns the copies of folders that a dry run would have made, as far as items are copied into them. One statement. */
async function copiedFolders(tx: Sql, taskId: number, items: readonly TaskItem[]): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ copy: string }>(
    `SELECT copy FROM task_items WHERE task_id = $1 AND target_type = 'folder' AND copy = ANY ($2::uuid[])
       AND state = 'succeeded'`,
    [taskId, items.flatMap(({ copyIn }) => (copyIn === null ? [] : [copyIn]))],
  );
  return new Set(rows.map(({ copy }) => copy));
}

type By = Parameters<typeof copyFiles>[4];

interface MadeFiles {
  /** The ids of items. */
  readonly ids: Set<number>;
  readonly ends: ItemEnd[];
  metadataBytes: number;
  deliveries: number;
}

/** Takes one statement for all files, and with `rename` one more for each further name that is tried. */
async function makeFiles(
  tx: Tx,
  task: Task,
  names: ReadonlyMap<number, string>,
  blobs: readonly CopiedBlob[],
  by: By,
): Promise<MadeFiles> {
  const { on_conflict: onConflict } = givenOf(task);
  const all: MadeFiles = { ids: new Set(), ends: [], metadataBytes: 0, deliveries: 0 };
  let left = blobs;
  for (let attempt = 0; left.length > 0; attempt += 1) {
    const isLast = onConflict === 'fail' || attempt === NAME_ATTEMPTS;
    const named =
      attempt === 0 ? left : left.map((blob) => ({ ...blob, name: alternativeName(names.get(blob.id) ?? '', attempt) }));
    const taken = new Set<number>();
    for (const made of await copyWhatFits(tx, task, named, by, all)) {
      if (made.isMade) {
        all.ids.add(made.id);
        all.ends.push({ id: made.id, code: null, result: { copy_id: made.copy } });
      } else if (!isLast && made.isThere && made.hasFolder && made.fits) taken.add(made.id);
      else all.ends.push({ id: made.id, ...faultOf(made) });
    }
    left = left.filter(({ id }) => taken.has(id));
  }
  return all;
}

/** Copies as many of the files as the quota allows. */
async function copyWhatFits(
  tx: Tx,
  task: Task,
  blobs: Parameters<typeof copyFiles>[2],
  by: By,
  all: MadeFiles,
): Promise<readonly MadeFile[]> {
  try {
    const made = await inSavepoint(tx, () => copyFiles(tx, task.id, blobs, { into: givenOf(task).folder_id }, by));
    all.metadataBytes += made[0]?.metadataBytes ?? 0;
    all.deliveries += made[0]?.deliveries ?? 0;
    return made;
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    const half = Math.ceil(blobs.length / 2);
    if (half < blobs.length)
      return [
        ...(await copyWhatFits(tx, task, blobs.slice(0, half), by, all)),
        ...(await copyWhatFits(tx, task, blobs.slice(half), by, all)),
      ];
    all.ends.push(...blobs.map(({ id }): ItemEnd => ({ id, code: 'quota_exceeded', message: error.message })));
    return [];
  }
}

const refusals = (refused: ReadonlyMap<number, Problem>): ItemEnd[] =>
  [...refused].map(([id, { code, message }]) => ({ id, code, message }));

const targetsOf = (items: readonly TaskItem[]): string[] => items.map(({ target }) => target);
