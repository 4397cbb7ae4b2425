import { fileEventRows } from '../../events/events.ts';
import type { Executor } from '../../store/postgres/database.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { deletedFields, updatedFields } from '../model/files/files.events.ts';
import { purgeRows } from '../blobs/objects.jobs.ts';
import { ENTRY_BYTES } from '../model/metadata-bytes.ts';
import { expiryOf, type FolderRecord } from '../model/folders/folders.sql.ts';
import {
  CHANGED_FILES,
  fileBatch,
  type FileBatch,
  FILES_AND_OWNERS,
  furtherBatches,
  NEXT_BATCH,
  stateOf,
} from '../model/folders/tree-files.sql.ts';

/*
 * Moves a folder to the trash, restores it, or deletes it permanently, with everything below it. The caller has locked its tree
 * (`lockTree`). Each takes one statement, and one more for each 20,000 files, and returns the deliveries of its events.
 */

const TRASHED_FILES_PER_STATEMENT = 5_000;

const BELOW = 'SELECT b.id, b.uuid FROM folders d JOIN folders b ON b.ancestry <@ d.ancestry WHERE d.id = $1';
const DONE = `SELECT (SELECT count(*)::int FROM delivery) AS deliveries, ${NEXT_BATCH}`;

/**
 * $1 the folder, $2 the time, $3 the id after which the batch begins, $4 when it goes for ever. What is in the trash already
 * stays as it was deleted.
 */
const trash = (folder: string): string => `
  WITH folder AS (${folder}), ${fileBatch('$3')}, file AS (
    UPDATE files f SET deleted_at = $2::timestamptz, expires_at = $4::timestamptz, trashed_with = $1, revision = f.revision + 1
    FROM batch b WHERE f.id = b.id AND f.folder_id = b.folder_id AND ${stateOf('f').live} RETURNING ${CHANGED_FILES}
  ), ${fileEventRows('file.deleted', '$2', {
    source: `${FILES_AND_OWNERS} ORDER BY f.id`,
    fields: deletedFields('f.deleted_at', false),
  })}
  ${DONE}`;

const TRASH = trash(`
    UPDATE folders d SET deleted_at = $2::timestamptz, expires_at = $4::timestamptz, trashed_with = nullif($1::bigint, d.id),
      revision = d.revision + 1
    FROM (${BELOW}) b WHERE d.id = b.id AND ${stateOf('d').live} RETURNING d.id, d.uuid`);
const TRASH_MORE = trash(BELOW);

export const trashTree = (
  tx: Pick<Executor, 'query' | 'prepared'>,
  folder: FolderRecord,
  now: Date,
  expiresAt: Date,
): Promise<number> => inBatches(tx, ['content-trash', TRASH], ['content-trash-more', TRASH_MORE], folder, now, [expiresAt]);

/**
 * $1, $2 and $3 as before, $4 the folder whose deletion this one went to the trash by. Brings back what went by the same
 * deletion.
 */
const restore = (folder: string): string => `
  WITH folder AS (${folder}), ${fileBatch('$3')}, file AS (
    UPDATE files f SET deleted_at = NULL, expires_at = NULL, trashed_with = NULL, revision = f.revision + 1
    FROM batch b WHERE f.id = b.id AND ${stateOf('f').trashedWith('$4')} RETURNING ${CHANGED_FILES}
  ), ${fileEventRows('file.updated', '$2', {
    source: `${FILES_AND_OWNERS} ORDER BY f.id`,
    fields: updatedFields('["restored"]'),
  })}
  ${DONE}`;

const RESTORE = restore(`
    UPDATE folders d SET deleted_at = NULL, expires_at = NULL, trashed_with = NULL, revision = d.revision + 1
    FROM (${BELOW}) b WHERE d.id = b.id AND (d.id = $1 OR ${stateOf('d').trashedWith('$4')}) RETURNING d.id, d.uuid`);
const RESTORE_MORE = restore(BELOW);

/** Throws UniqueViolation where the folder's name is taken. */
export const restoreTree = (tx: Pick<Executor, 'query' | 'prepared'>, folder: FolderRecord, now: Date): Promise<number> =>
  inBatches(tx, ['content-restore', RESTORE], ['content-restore-more', RESTORE_MORE], folder, now, [
    folder.trashedWith ?? folder.id,
  ]);

/**
 * $1, $2 and $3 as before. Files with their versions and grants, what of them counts to their owners, and the work that deletes
 * the objects.
 */
const purgeFiles = (batch: string): string => `
  ${batch}, version AS MATERIALIZED (
    SELECT v.blob_name, v.size, v.version_number, f.owner_id FROM batch b JOIN files f ON f.id = b.id
    JOIN file_versions v ON v.file_id = f.id
  ), file AS (
    DELETE FROM files f USING batch b WHERE f.id = b.id AND f.folder_id IS NOT DISTINCT FROM b.folder_id
    RETURNING ${CHANGED_FILES}
  ), freed AS (
    UPDATE users u SET storage_used = greatest(0, u.storage_used - s.bytes), entries = greatest(0, u.entries - s.later)
    FROM (SELECT owner_id, sum(size) AS bytes, sum(later) AS later FROM (
      SELECT owner_id, size, (version_number > 1)::int AS later FROM version UNION ALL
      SELECT f.owner_id, ${ENTRY_BYTES}, 0 FROM batch b JOIN files f ON f.id = b.id JOIN file_metadata m ON m.file_id = b.id
    ) w GROUP BY owner_id) s WHERE u.id = s.owner_id
  ), ungranted AS (
    DELETE FROM permissions p USING batch b WHERE p.resource_type = 'file' AND p.resource_id = b.id
  ), work AS (
    ${purgeRows('SELECT blob_name FROM version')}
  ), ${fileEventRows('file.deleted', '$2', {
    source: `${FILES_AND_OWNERS} WHERE f.deleted_at IS NULL ORDER BY f.id`,
    fields: deletedFields('$2::timestamptz', true),
  })}`;

const PURGE_FILES = `WITH folder AS MATERIALIZED (${BELOW}), ${purgeFiles(fileBatch('$3'))} ${DONE}`;

/** $1, $2 the time. */
const PURGE_TRASHED_FILES = `WITH ${purgeFiles(`batch AS MATERIALIZED (
    SELECT f.id, f.folder_id, NULL::uuid AS folder_uuid FROM files f
    WHERE f.deleted_at IS NOT NULL AND f.trashed_with IS NULL AND ${expiryOf('f')} <= $1
    ORDER BY f.deleted_at, f.id LIMIT ${TRASHED_FILES_PER_STATEMENT} FOR UPDATE
  )`)} SELECT count(*)::int AS files FROM batch`;

/** $1 uuids, $2 the time, $3 the owner, $4 the time by which they were deleted by themselves. */
const PURGE_OWN_FILES = `WITH ${purgeFiles(`batch AS MATERIALIZED (
    SELECT f.id, f.folder_id, NULL::uuid AS folder_uuid FROM files f
    WHERE f.uuid = ANY ($1::uuid[]) AND f.owner_id = $3 AND f.deleted_at <= $4 AND f.trashed_with IS NULL ORDER BY f.id FOR UPDATE
  )`)} SELECT FROM batch LIMIT 0`;

/** $1 ids of files that are locked, $2 the time. */
const PURGE_LOCKED_FILES = `WITH ${purgeFiles(`batch AS MATERIALIZED (
    SELECT f.id, f.folder_id, NULL::uuid AS folder_uuid FROM files f WHERE f.id = ANY ($1::bigint[])
  )`)} SELECT FROM batch LIMIT 0`;

const LOCK_FILES = `SELECT f.id FROM files f WHERE f.folder_id IN (SELECT id FROM (${BELOW}) b) ORDER BY f.id FOR UPDATE`;

const PURGE_FOLDERS = `
  WITH folder AS MATERIALIZED (${BELOW}), ungranted AS (
    DELETE FROM permissions p USING folder d WHERE p.resource_type = 'folder' AND p.resource_id = d.id
  )
  DELETE FROM folders d USING folder b WHERE d.id = b.id`;

/**
 * Permanently deletes the next files that went to the trash by themselves and are past their time. Returns whether there may be
 * more. One statement suffices, because nobody adds a version to a file in the trash.
 */
export async function purgeTrashedFiles(sql: Pick<Sql, 'query'>, now: Date): Promise<boolean> {
  const [purged] = await sql.query<{ files: number }>(PURGE_TRASHED_FILES, [now, now.toISOString()]);
  return purged?.files === TRASHED_FILES_PER_STATEMENT;
}

/** Files and folders of one owner that were deleted on their own, not with a folder, before a time. */
export interface OwnTrash {
  readonly userId: number;
  readonly before: Date;
}

/** Permanently deletes the ones of these files that are in somebody's trash. One statement. */
export const purgeOwnFiles = (
  sql: Pick<Sql, 'query'>,
  uuids: readonly string[],
  { userId, before }: OwnTrash,
  now: Date,
): Promise<unknown> => sql.query(PURGE_OWN_FILES, [uuids, now.toISOString(), userId, before]);

/** Permanently deletes files that the caller has locked. One statement. */
export const purgeLockedFiles = (sql: Pick<Sql, 'query'>, ids: readonly number[], now: Date): Promise<unknown> =>
  sql.query(PURGE_LOCKED_FILES, [ids, now.toISOString()]);

/** Returns which of these exist, in the trash or not. Takes one statement. */
export async function presentOf(
  sql: Pick<Sql, 'query'>,
  table: 'files' | 'folders',
  uuids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ uuid: string }>(`SELECT uuid FROM ${table} WHERE uuid = ANY ($1::uuid[])`, [uuids]);
  return new Set(rows.map(({ uuid }) => uuid));
}

/** Takes three statements. */
export async function purgeTree(tx: Pick<Executor, 'query' | 'prepared'>, folder: FolderRecord, now: Date): Promise<number> {
  // Versions that are added while the locks are waited for are seen by the next statement.
  await tx.query(`SELECT count(*) FROM (${LOCK_FILES}) f`, [folder.id]);
  const deliveries = await inBatches(tx, ['content-purge', PURGE_FILES], ['content-purge', PURGE_FILES], folder, now);
  await tx.query(PURGE_FOLDERS, [folder.id]);
  return deliveries;
}

type Prepared = readonly [name: string, sql: string];

async function inBatches(
  tx: Pick<Executor, 'query' | 'prepared'>,
  first: Prepared,
  further: Prepared,
  folder: FolderRecord,
  now: Date,
  more: readonly unknown[] = [],
): Promise<number> {
  const run = ([name, sql]: Prepared, after: number): Promise<FileBatch[]> =>
    tx.prepared<FileBatch>(name, sql, [folder.id, now.toISOString(), after, ...more]);
  const [batch = { next: null, deliveries: 0 }] = await run(first, 0);
  return furtherBatches(batch, (after) => run(further, after));
}
