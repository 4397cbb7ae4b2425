import { BASE_PATH } from '../../api/endpoint.ts';
import type { Permission } from '../../api/actor.ts';
import { permissionsOf } from '../../api/role-permissions.ts';
import { Problem } from '../../api/problem.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { LimitReached } from '../../store/postgres/errors.ts';
import type { TaskRequests } from '../../tasks/task-requests.ts';
import type { TaskView } from '../../tasks/tasks.schema.ts';
import { nameItems } from '../batch/batch.sql.ts';
import { EXPIRE_EXPORTS, EXPORT } from './export-task.ts';
import { expireBeyond, keptOfRun, lockOwner, remainingForArchives } from './kept-exports.sql.ts';
import { DAY_MS } from '../../runtime/time.ts';

/** The archive of an export that is no run of a schedule, and its link, stay this long. */
export const EXPORT_LINK_MS = DAY_MS;
/** Archives of one schedule. */
export const KEEP_MAX = 100;
/** The archives of a schedule stay this long after it is deleted or changed to do something else. */
const AFTER_SCHEDULE_MS = 30 * DAY_MS;

/** The schedule that an export is a run of, and the person it acts for. */
export interface ExportRun {
  readonly scheduleId: number;
  readonly userId: number | null;
  /** The uuid of the schedule. */
  readonly schedule: string;
  readonly folder: string;
  /** Absolute, without a slash at the end. */
  readonly appUrl: string;
}

/**
 * Requests the export of a folder as a run of a schedule, with the rights that the person it acts for has when it runs. Four
 * statements.
 */
export async function requestExportRun(
  tx: Tx,
  tasks: TaskRequests,
  { scheduleId, userId, schedule, folder, appUrl }: ExportRun,
): Promise<TaskView> {
  const permissions: Permission[] = [...permissionsOf(['admin'])];
  const given = { permissions, apiUrl: `${appUrl}${BASE_PATH}`, schedule };
  const task = await tasks.requestRun(tx, EXPORT, { scheduleId, userId }, { arguments: given });
  const total = await nameItems(tx, task.id, [{ type: 'folder', id: folder }]);
  return { ...task, progress: { ...task.progress, total } };
}

/** Decides how long an archive stays. */
export interface Keeping {
  /** Null: it stays until newer ones replace it. */
  readonly expiresAt: Date | null;
  /** The number of archives of its schedule that stay; null: the archive belongs to no schedule, or no longer. */
  readonly keep: number | null;
}

/** An archive of a schedule. */
export interface KeptArchive {
  /** uuids */
  readonly task: string;
  readonly schedule: string;
  /** The person it acts for. */
  readonly userId: number;
}

/** Returns the number of bytes that the next archive may have. Throws `quota_exceeded` if no archive fits. */
export const remainingFor = async (tx: Tx, archive: KeptArchive, now: Date): Promise<number> =>
  requireBytes(tx, archive, { keep: await keptOfRun(tx, archive.task), now, size: 1 });

/**
 * Returns how long an archive that is about to be written stays. Locks the schedule and its owner to the end of the
 * transaction: changes of both come before or after it. Throws `quota_exceeded`. Four statements.
 */
export async function keepingOf(tx: Tx, archive: KeptArchive, { size, now }: { size: number; now: Date }): Promise<Keeping> {
  const keep = await keptOfRun(tx, archive.task, { lock: true });
  await lockOwner(tx, archive.userId);
  await requireBytes(tx, archive, { keep, now, size });
  return { keep, expiresAt: keep === null ? new Date(now.getTime() + AFTER_SCHEDULE_MS) : null };
}

/**
 * Lets the archives of a schedule beyond the `keep` newest expire now. `keep` null: the schedule no longer exists, and all
 * archives expire after AFTER_SCHEDULE_MS. Returns when; null: there is none. Takes one statement, in the tenant's schema, by
 * any role.
 */
export async function expireKept(tx: Pick<Tx, 'query'>, schedule: string, keep: number | null, now: Date): Promise<Date | null> {
  const at = keep === null ? new Date(now.getTime() + AFTER_SCHEDULE_MS) : now;
  return (await expireBeyond(tx, schedule, keep ?? 0, at)) ? at : null;
}

/** Does the same, and requests the job that deletes them. */
export async function pruneKept(jobs: JobRequests, tx: Tx, schedule: string, keep: number | null, now: Date): Promise<void> {
  const at = await expireKept(tx, schedule, keep, now);
  if (at === null) return;
  if (keep === null) await jobs.schedule(tx, EXPIRE_EXPORTS, {}, at);
  else await jobs.request(tx, EXPIRE_EXPORTS, {});
}

async function requireBytes(
  tx: Tx,
  { schedule, userId }: KeptArchive,
  { keep, now, size }: { readonly keep: number | null; readonly now: Date; readonly size: number },
): Promise<number> {
  try {
    const remainingBytes = await remainingForArchives(tx, { schedule, userId, stay: keep === null ? null : keep - 1, now });
    if (remainingBytes < size) throw new Problem('quota_exceeded', NOT_ENOUGH);
    return remainingBytes;
  } catch (error) {
    if (error instanceof LimitReached) throw new Problem('quota_exceeded', error.message, { cause: error });
    throw error;
  }
}

export const NOT_ENOUGH =
  'The archives that schedules keep for you would be larger than your storage quota, or than this institution may ' +
  'store. Keep fewer, or have the quota raised.';
