import type { Sql } from '../../store/postgres/pool.ts';

/** A live folder of an archive. */
export interface ArchivedFolder {
  readonly id: number;
  readonly name: string;
  readonly updatedAt: Date;
  /** True if the folder contains live folders. */
  readonly hasFolders: boolean;
  /** True if the folder contains live files. */
  readonly hasFiles: boolean;
}

/** The content of a live file of an archive. */
export interface ArchivedFile {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  /** bytes */
  readonly size: number;
  readonly blobName: string;
  /** CRC-32; null: not known. */
  readonly crc: number | null;
  readonly updatedAt: Date;
}

/**
 * An archive holds the rows of a page in memory. It holds one page of folders for each level of the tree, so that page is short.
 */
const FILES_PAGE = 250;
const FOLDERS_PAGE = 20;

const folders = (which: string): string => `
  SELECT b.id, b.name, b.updated_at AS "updatedAt",
    EXISTS (SELECT FROM folders c WHERE c.parent_id = b.id AND c.deleted_at IS NULL) AS "hasFolders",
    EXISTS (SELECT FROM files f WHERE f.folder_id = b.id AND f.deleted_at IS NULL) AS "hasFiles"
  FROM folders b WHERE ${which} AND b.deleted_at IS NULL`;
const FOLDER = folders('b.id = $1');
const FOLDERS = `${folders('b.parent_id = $1 AND b.name > $2')} ORDER BY b.name LIMIT ${FOLDERS_PAGE}`;

/** Returns one folder, or none if it was deleted. One statement. */
export async function* folderItself(sql: Sql, folderId: number): AsyncGenerator<ArchivedFolder> {
  yield* await sql.query<ArchivedFolder>(FOLDER, [folderId]);
}

/** Yields the folders in a folder, by name. Takes one statement for each 20. */
export async function* foldersIn(sql: Sql, folderId: number): AsyncGenerator<ArchivedFolder> {
  for (let after = '', isMore = true; isMore;) {
    const page: ArchivedFolder[] = await sql.query(FOLDERS, [folderId, after]);
    yield* page;
    after = page.at(-1)?.name ?? '';
    isMore = page.length === FOLDERS_PAGE;
  }
}

const files = (which: string): string => `
  SELECT f.id, f.uuid, f.name, f.size, f.blob_name AS "blobName", v.crc32 AS crc, f.updated_at AS "updatedAt"
  FROM files f LEFT JOIN file_versions v ON v.file_id = f.id AND v.version_number = f.version_number
  WHERE ${which} AND f.deleted_at IS NULL`;
const FILES = `${files('f.folder_id = $1 AND f.name > $2')} ORDER BY f.name LIMIT ${FILES_PAGE}`;

/** Yields the files of one folder, by name. Takes one statement for each 250. */
export async function* filesIn(sql: Sql, folderId: number): AsyncGenerator<ArchivedFile> {
  for (let after = '', isMore = true; isMore;) {
    const page: ArchivedFile[] = await sql.query(FILES, [folderId, after]);
    yield* page;
    after = page.at(-1)?.name ?? '';
    isMore = page.length === FILES_PAGE;
  }
}

/** Returns the live ones of these files, by name. One statement. */
export async function* theseFiles(sql: Sql, uuids: readonly string[]): AsyncGenerator<ArchivedFile> {
  if (uuids.length > 0)
    yield* await sql.query<ArchivedFile>(`${files('f.uuid = ANY ($1::uuid[])')} ORDER BY f.name, f.id`, [uuids]);
}

/** Returns the live ones of these folders, by name. One statement. */
export async function* theseFolders(sql: Sql, uuids: readonly string[]): AsyncGenerator<ArchivedFolder> {
  if (uuids.length > 0)
    yield* await sql.query<ArchivedFolder>(`${folders('b.uuid = ANY ($1::uuid[])')} ORDER BY b.name, b.id`, [uuids]);
}

const SIZE = `
  WITH tree AS MATERIALIZED (
    SELECT b.id, octet_length(b.name) AS bytes FROM folders d JOIN folders b ON b.ancestry <@ d.ancestry
    WHERE d.id = $1 AND b.deleted_at IS NULL LIMIT $2
  )
  SELECT count(*)::int AS entries, coalesce(sum(e.bytes), 0)::int AS "nameBytes" FROM (
    SELECT bytes FROM tree UNION ALL
    (SELECT octet_length(f.name) FROM tree t JOIN files f ON f.folder_id = t.id WHERE f.deleted_at IS NULL LIMIT $2)
  ) e`;

/**
 * Counts the folders and files in a folder, itself included, and the bytes of their names; counts at most `most` of each kind.
 * One statement.
 */
export async function treeSize(sql: Sql, folderId: number, most: number): Promise<{ entries: number; nameBytes: number }> {
  const [size] = await sql.query<{ entries: number; nameBytes: number }>(SIZE, [folderId, most]);
  return size ?? { entries: 0, nameBytes: 0 };
}

/** Returns whether the object still belongs to the file. If not, the file was deleted and its objects purged. One statement. */
export const isCurrent = async (sql: Sql, { id, blobName }: ArchivedFile): Promise<boolean> =>
  (await sql.query('SELECT FROM files WHERE id = $1 AND blob_name = $2', [id, blobName])).length > 0;
