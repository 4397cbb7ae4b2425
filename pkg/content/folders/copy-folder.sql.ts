import { ENTRY_BYTES } from '../model/metadata-bytes.ts';
import { fileEventRows } from '../../events/events.ts';
import type { Json } from '../../store/postgres/job-store.ts';
import { MAX_FOLDER_DEPTH } from '../../store/postgres/folder-depth.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { PLANNED_COLUMNS, type RunningTask } from '../../tasks/task-steps.sql.ts';
import { createdFields } from '../model/files/files.events.ts';
import { PATH_MAX_CHARACTERS } from '../model/names/names.policy.ts';
import type { CopiedBlob, SourceContent } from '../blobs/task-copies.ts';
import type { FolderRecord } from '../model/folders/folders.sql.ts';
import { stateOf } from '../model/folders/tree-files.sql.ts';

const FILES_PER_STATEMENT = 10_000;

/** The folders of a copy: what is copied, and what it becomes. */
export interface CopiedTree {
  readonly source: Pick<FolderRecord, 'id' | 'uuid' | 'ancestry'>;
  readonly copy: Pick<FolderRecord, 'uuid' | 'ancestry'>;
}

/** Returns the uuid (version 8) of a copy: equal for the same original and task. */
export const copyOf = (task: string, uuid: string): string =>
  `overlay(overlay(md5(${task}::text || ${uuid}::text) PLACING '8' FROM 13) PLACING '8' FROM 17)::uuid`;

/**
 * $1 the task, $2 its uuid, $3 the folder, $4 its ancestry, $5 the copy, $6 its ancestry: a copy that has come below the folder
 * is not copied again.
 */
const PLAN_FOLDERS = `
  WITH item AS (
    INSERT INTO task_items (${PLANNED_COLUMNS}, copy, copy_in)
    SELECT $1, nlevel(d.ancestry) - nlevel($4::ltree), 'folder', d.uuid, d.name, ${copyOf('$2', 'd.uuid')},
      CASE WHEN p.id = $3 THEN $5::uuid ELSE ${copyOf('$2', 'p.uuid')} END
    FROM folders d JOIN folders p ON p.id = d.parent_id
    WHERE d.ancestry <@ $4::ltree AND d.id <> $3 AND d.deleted_at IS NULL AND NOT d.ancestry <@ $6::ltree ORDER BY d.depth, d.id
    ON CONFLICT DO NOTHING RETURNING id
  )
  UPDATE tasks t SET total = t.total + (SELECT count(*) FROM item) WHERE t.id = $1`;

export const planFolders = (
  tx: Sql,
  { id, uuid }: Pick<RunningTask, 'id' | 'uuid'>,
  { source, copy }: CopiedTree,
): Promise<unknown> => tx.query(PLAN_FOLDERS, [id, uuid, source.id, source.ancestry, copy.uuid, copy.ancestry]);

/** $1 the task, $2 its uuid, $3 the folder, $4 the copy, $5 the file after which it begins. Files come after all folders. */
const PLAN_FILES = `
  WITH folder AS MATERIALIZED (
    SELECT d.id, i.copy FROM task_items i JOIN folders d ON d.uuid = i.target WHERE i.task_id = $1 AND i.target_type = 'folder'
    UNION ALL SELECT $3::bigint, $4::uuid
  ), batch AS MATERIALIZED (
    SELECT f.id, f.uuid, f.name, d.copy FROM folder d JOIN files f ON f.folder_id = d.id WHERE f.id > $5 AND ${stateOf('f').live}
    ORDER BY f.id LIMIT ${FILES_PER_STATEMENT}
  ), item AS (
    INSERT INTO task_items (${PLANNED_COLUMNS}, copy, copy_in)
    SELECT $1, ${MAX_FOLDER_DEPTH + 1}, 'file', b.uuid, b.name, ${copyOf('$2', 'b.uuid')}, b.copy FROM batch b ORDER BY b.id
    ON CONFLICT DO NOTHING RETURNING id
  ), counted AS (
    UPDATE tasks t SET total = t.total + (SELECT count(*) FROM item) WHERE t.id = $1
  )
  SELECT b.id FROM batch b ORDER BY b.id OFFSET ${FILES_PER_STATEMENT - 1}`;

/** Returns the cursor after them; null: there are no more. */
export async function planFiles(
  tx: Sql,
  { id, uuid }: Pick<RunningTask, 'id' | 'uuid'>,
  { source, copy }: CopiedTree,
  after: number,
): Promise<Json> {
  const [last] = await tx.query<{ id: number }>(PLAN_FILES, [id, uuid, source.id, copy.uuid, after]);
  return last?.id ?? null;
}

/** Holds folders as and where they are until the end of the transaction. One statement. */
export const holdFolders = (tx: Sql, uuids: readonly string[]): Promise<unknown> =>
  tx.query('SELECT FROM folders WHERE uuid = ANY ($1::uuid[]) AND deleted_at IS NULL ORDER BY id FOR SHARE', [uuids]);

/** Conditions that a copy of an item must meet. */
export interface Conditions {
  readonly id: number;
  /** It is where it was found. */
  readonly isThere: boolean;
  /** The folder that its copy is to be in. */
  readonly hasFolder: boolean;
  /** Its path is not too long, and the folder that it is to be in not too deep. */
  readonly fits: boolean;
}

export interface Made extends Conditions {
  readonly isMade: boolean;
}

/** $1 the task, $2 items, $3 the ancestry of the folder that is copied. */
const COPY_FOLDERS = `
  WITH candidate AS MATERIALIZED (
    SELECT i.id, i.copy, d.name, p.id AS parent_id, p.owner_id, p.path || '/' || d.name AS path, d.id IS NOT NULL AS is_there,
      p.id IS NOT NULL AS has_folder,
      char_length(p.path || '/' || d.name) <= ${PATH_MAX_CHARACTERS} AND p.depth < ${MAX_FOLDER_DEPTH} AS fits
    FROM task_items i LEFT JOIN folders d ON d.uuid = i.target AND d.deleted_at IS NULL AND d.ancestry <@ $3::ltree
      LEFT JOIN folders p ON p.uuid = i.copy_in AND p.deleted_at IS NULL
    WHERE i.task_id = $1 AND i.id = ANY ($2::bigint[])
  ), made AS (
    INSERT INTO folders (uuid, name, path, parent_id, owner_id)
    SELECT c.copy, c.name, c.path, c.parent_id, c.owner_id FROM candidate c WHERE c.is_there AND c.has_folder AND c.fits
    ORDER BY c.id
    ON CONFLICT DO NOTHING RETURNING uuid
  )
  SELECT c.id, c.is_there AS "isThere", c.has_folder AS "hasFolder", coalesce(c.fits, true) AS fits,
    m.uuid IS NOT NULL AS "isMade"
  FROM candidate c LEFT JOIN made m ON m.uuid = c.copy`;

/** Copies folders into folders that are held. A copy belongs to the owner of the one that it is in. One statement. */
export const copyFolders = (tx: Sql, taskId: number, items: readonly number[], { source }: CopiedTree): Promise<Made[]> =>
  tx.query<Made>(COPY_FOLDERS, [taskId, items, source.ancestry]);

/** A file to copy, in its state before its content is copied; the file is absent if it no longer exists. */
export interface SourceFile extends Omit<SourceContent, 'key'> {
  readonly key: string | null;
  readonly hasFolder: boolean;
}

/** The destination of copied files. `into`: the folder of files whose item names no folder; null: the copier's root. */
export interface FileCopies {
  /** The ancestry of a folder that they are below; left out: anywhere. */
  readonly below?: string;
  readonly into?: string | null;
}

const LIVE_BELOW = 'f.deleted_at IS NULL AND f.folder_id IN (SELECT s.id FROM folders s WHERE s.ancestry <@ $3::ltree)';
const LIVE = 'f.deleted_at IS NULL AND $3::ltree IS NULL';
/**
 * Returns the condition that `p`, the folder for the copy of item `i`, exists, or that the copy goes into the root; `into` is a
 * parameter.
 */
const hasFolder = (into: string): string => `(p.id IS NOT NULL OR coalesce(i.copy_in, ${into}::uuid) IS NULL)`;
const folderOfCopy = (into: string): string =>
  `LEFT JOIN folders p ON p.uuid = coalesce(i.copy_in, ${into}::uuid) AND p.deleted_at IS NULL`;

const sourceFilesSql = (where: string): string => `
  SELECT i.id, f.blob_name AS key, f.size, f.checksum, v.crc32, f.mime_type AS "mimeType", ${hasFolder('$4')} AS "hasFolder",
    (SELECT coalesce(sum(${ENTRY_BYTES}), 0)::bigint FROM file_metadata m WHERE m.file_id = f.id) AS "metadataBytes"
  FROM task_items i LEFT JOIN files f ON f.uuid = i.target AND ${where} ${folderOfCopy('$4')}
    LEFT JOIN file_versions v ON v.file_id = f.id AND v.version_number = f.version_number
  WHERE i.task_id = $1 AND i.id = ANY ($2::bigint[]) ORDER BY i.id`;
const SOURCE_FILES = sourceFilesSql(LIVE);
const SOURCE_FILES_BELOW = sourceFilesSql(LIVE_BELOW);

/** Returns the files that the items name. Takes one statement. */
export const sourceFiles = (
  tx: Sql,
  taskId: number,
  items: readonly number[],
  { below, into }: FileCopies,
): Promise<SourceFile[]> =>
  tx.query<SourceFile>(below === undefined ? SOURCE_FILES : SOURCE_FILES_BELOW, [taskId, items, below ?? null, into ?? null]);

const HOLD_FOLDERS_OF_COPIES = `
  SELECT FROM folders WHERE deleted_at IS NULL AND uuid IN (
    SELECT copy_in FROM task_items WHERE task_id = $1 AND id = ANY ($2::bigint[]) UNION SELECT $3::uuid)
  ORDER BY id FOR SHARE`;

/**
 * Holds the folders that copies of items are to be in, and `into`, as and where they are until the end of the transaction. One
 * statement.
 */
export const holdFoldersOfCopies = (
  tx: Sql,
  taskId: number,
  items: readonly number[],
  into: string | null = null,
): Promise<unknown> => tx.query(HOLD_FOLDERS_OF_COPIES, [taskId, items, into]);

/**
 * $1 the task, $2 the contents, $3 the ancestry of the folder that is copied, $4 the copier, $5 the bucket, $6 the time, $7 the
 * ids of the contents, $8 the folder of those whose item names none. Items that have ended meanwhile are left out.
 */
const copyFilesSql = (where: string): string => `
  WITH named AS MATERIALIZED (
    SELECT b.*, coalesce(i.copy, gen_random_uuid()) AS copy, f.id AS source_id, coalesce(b.name, f.name) AS new_name, f.extension,
      p.id AS folder_id,
      p.path AS parent_path, ${hasFolder('$8')} AS has_folder
    FROM jsonb_to_recordset($2::jsonb)
      AS b (id bigint, name text, key text, size bigint, checksum text, crc32 bigint, "mimeType" text, "isEncrypted" boolean)
      JOIN task_items i ON i.task_id = $1 AND i.id = b.id AND i.id = ANY ($7::bigint[]) AND i.state = 'queued'
      LEFT JOIN files f ON f.uuid = i.target AND ${where} ${folderOfCopy('$8')}
  ), candidate AS MATERIALIZED (
    SELECT n.*, concat(n.parent_path, '/', n.new_name) AS path,
      char_length(concat(n.parent_path, '/', n.new_name)) <= ${PATH_MAX_CHARACTERS} AS fits FROM named n
  ), file AS (
    INSERT INTO files
      AS f (uuid, name, path, extension, mime_type, size, checksum, owner_id, folder_id, blob_container, blob_name, is_encrypted)
    SELECT c.copy, c.new_name, c.path, c.extension, c."mimeType", c.size, c.checksum, $4, c.folder_id, $5, c.key, c."isEncrypted"
    FROM candidate c
    WHERE c.source_id IS NOT NULL AND c.has_folder AND c.fits ORDER BY c.id
    ON CONFLICT DO NOTHING RETURNING f.id, f.uuid, f.name, f.size, f.owner_id, f.created_at
  ), made AS (
    SELECT f.id, c.source_id, c.size, c.checksum, c.crc32, c.key, c."isEncrypted" AS is_encrypted FROM file f
    JOIN candidate c ON c.copy = f.uuid
  ), version AS (
    INSERT INTO file_versions (file_id, version_number, size, checksum, crc32, blob_name, created_by, is_encrypted)
    SELECT m.id, 1, m.size, m.checksum, m.crc32, m.key, $4, m.is_encrypted FROM made m
  ), tag AS (
    INSERT INTO file_tags (file_id, tag_id)
    SELECT m.id, l.tag_id FROM made m JOIN file_tags l ON l.file_id = m.source_id JOIN tags t ON t.id = l.tag_id
    WHERE t.owner_id = $4
  ), metadata AS (
    INSERT INTO file_metadata AS m (file_id, key, value, value_type)
    SELECT n.id, e.key, e.value, e.value_type FROM made n JOIN file_metadata e ON e.file_id = n.source_id
    RETURNING ${ENTRY_BYTES} AS bytes
  ), ${fileEventRows('file.created', '$6', {
    source: 'file f JOIN users o ON o.id = f.owner_id ORDER BY f.id',
    fields: createdFields,
  })}
  SELECT c.id, c.copy, c.source_id IS NOT NULL AS "isThere", c.has_folder AS "hasFolder", coalesce(c.fits, true) AS fits,
    f.id IS NOT NULL AS "isMade", (SELECT count(*)::int FROM delivery) AS deliveries,
    (SELECT coalesce(sum(bytes), 0)::bigint FROM metadata) AS "metadataBytes"
  FROM candidate c LEFT JOIN file f ON f.uuid = c.copy`;
const COPY_FILES = copyFilesSql(LIVE);
const COPY_FILES_BELOW = copyFilesSql(LIVE_BELOW);

export interface MadeFile extends Made {
  /** The uuid of the copy. */
  readonly copy: string;
  readonly deliveries: number;
  readonly metadataBytes: number;
}

/**
 * Makes files of contents, in folders that are held, each with version 1, metadata, the copier's own tags and its event;
 * `metadataBytes` are those of all of them. `name`: another one than the source's. One statement.
 */
export const copyFiles = (
  tx: Sql,
  taskId: number,
  blobs: readonly (CopiedBlob & { readonly name?: string })[],
  { below, into }: FileCopies,
  by: { readonly userId: number; readonly bucket: string; readonly now: Date },
): Promise<MadeFile[]> =>
  tx.query<MadeFile>(below === undefined ? COPY_FILES : COPY_FILES_BELOW, [
    taskId,
    JSON.stringify(blobs),
    below ?? null,
    by.userId,
    by.bucket,
    by.now.toISOString(),
    blobs.map(({ id }) => id),
    into ?? null,
  ]);
