import type { Sql } from '../../store/postgres/pool.ts';

/** A live folder of an archive; `path` begins with the name of the archive's top folder. */
export interface ArchivedFolder {
  readonly id: number;
  readonly path: string;
  readonly updatedAt: Date;
}

/** The content of a live file of an archive. */
export interface ArchivedFile {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  /** bytes */
  readonly size: number;
  readonly blobName: string;
  readonly updatedAt: Date;
}

const PAGE = 1_000;

const FOLDERS = `
  SELECT b.id, substr(b.path, length(d.path) - length(d.name) + 1) AS path, b.updated_at AS "updatedAt" FROM folders d JOIN folders b ON b.ancestry <@ d.ancestry
  WHERE d.id = $1 AND b.deleted_at IS NULL AND b.id > $2 ORDER BY b.id LIMIT ${PAGE}`;

/** The folder itself and all below it. One statement for each 1,000. */
export async function* foldersOf(sql: Sql, folderId: number): AsyncGenerator<ArchivedFolder> {
  for (let after = 0, isMore = true; isMore;) {
    const page: ArchivedFolder[] = await sql.query(FOLDERS, [folderId, after]);
    yield* page;
    after = page.at(-1)?.id ?? 0;
    isMore = page.length === PAGE;
  }
}

const FILES = `
  SELECT f.id, f.uuid, f.name, f.size, f.blob_name AS "blobName", f.updated_at AS "updatedAt" FROM files f
  WHERE f.folder_id = $1 AND f.deleted_at IS NULL AND f.name > $2 ORDER BY f.name LIMIT ${PAGE}`;

/** The files of one folder, by name. One statement for each 1,000. */
export async function* filesIn(sql: Sql, folderId: number): AsyncGenerator<ArchivedFile> {
  for (let after = '', isMore = true; isMore;) {
    const page: ArchivedFile[] = await sql.query(FILES, [folderId, after]);
    yield* page;
    after = page.at(-1)?.name ?? '';
    isMore = page.length === PAGE;
  }
}

/** Whether the object still belongs to the file: else it was deleted, and purged. One statement. */
export const isCurrent = async (sql: Sql, { id, blobName }: ArchivedFile): Promise<boolean> =>
  (await sql.query('SELECT FROM files WHERE id = $1 AND blob_name = $2', [id, blobName])).length > 0;
