import type { Sql } from '../../store/postgres/pool.ts';
import { MIB } from '../../runtime/bytes.ts';

/** An archive that is being written, without its plan. */
export interface ExportUpload {
  /** The uuid of its task. */
  readonly task: string;
  readonly key: string;
  readonly uploadId: string;
  /** The name of the archive. */
  readonly name: string;
  /** The bytes of each part but the last. */
  readonly partBytes: number;
  /** Entity tags of the parts that are in the store, in their order. */
  readonly etags: readonly string[];
  /** The state of the SHA-256 of what is in the store. */
  readonly sum: Buffer;
  /** Indices of entries of the plan that are left out. */
  readonly gone: readonly number[];
}

/** Bytes of a plan in one statement. Each slice is in memory a few times. */
const SLICE_BYTES = MIB;
const COLUMNS = 'task, key, upload_id AS "uploadId", name, part_bytes AS "partBytes", etags, sum, gone';

export async function findUpload(sql: Sql, task: string): Promise<ExportUpload | null> {
  const [row] = await sql.query<ExportUpload>(`SELECT ${COLUMNS} FROM export_uploads WHERE task = $1`, [task]);
  return row ?? null;
}

export type PackedPlan = Readonly<Record<'plan' | 'renamed', Buffer>>;

/** Runs one statement, and one more for each MiB of the plan. */
export async function insertUpload(tx: Sql, upload: ExportUpload, packed: PackedPlan): Promise<void> {
  const { task, key, uploadId, name, partBytes, sum } = upload;
  await tx.query(
    `INSERT INTO export_uploads (task, key, upload_id, name, part_bytes, sum, plan, renamed)
     VALUES ($1, $2, $3, $4, $5, $6, '', '')`,
    [task, key, uploadId, name, partBytes, sum],
  );
  for (const column of ['plan', 'renamed'] as const)
    for (let at = 0; at < packed[column].length; at += SLICE_BYTES)
      await tx.query(`UPDATE export_uploads SET ${column} = ${column} || $2 WHERE task = $1`, [
        task,
        packed[column].subarray(at, at + SLICE_BYTES),
      ]);
}

/** Takes one statement for each MiB of the plan. */
export async function readPlan(sql: Sql, task: string): Promise<PackedPlan> {
  const read = async (column: keyof PackedPlan): Promise<Buffer> => {
    const slices: Buffer[] = [];
    for (let isMore = true; isMore;) {
      const from = slices.length * SLICE_BYTES + 1;
      const query = `SELECT substring(${column} FROM $2::int FOR $3::int) AS slice FROM export_uploads WHERE task = $1`;
      const [row] = await sql.query<{ slice: Buffer }>(query, [task, from, SLICE_BYTES]);
      if (row) slices.push(row.slice);
      isMore = row?.slice.length === SLICE_BYTES;
    }
    return Buffer.concat(slices);
  };
  return { plan: await read('plan'), renamed: await read('renamed') };
}

/**
 * Records that the next part is in the store. Returns false if another worker has continued the upload, or has begun another
 * one.
 */
export const addPart = async (
  tx: Sql,
  { task, uploadId, etags }: ExportUpload,
  part: { etag: string; sum: Uint8Array },
): Promise<boolean> =>
  (
    await tx.query(
      `UPDATE export_uploads SET etags = etags || $4::text, sum = $5
       WHERE task = $1 AND upload_id = $2 AND cardinality(etags) = $3 RETURNING task`,
      [task, uploadId, etags.length, part.etag, part.sum],
    )
  ).length > 0;

/** Returns false in the cases of `addPart`. */
export const leaveOut = async (tx: Sql, { task, uploadId, etags }: ExportUpload, indices: readonly number[]): Promise<boolean> =>
  (
    await tx.query(
      `UPDATE export_uploads SET gone = gone || $4::int[] WHERE task = $1 AND upload_id = $2 AND cardinality(etags) = $3
       RETURNING task`,
      [task, uploadId, etags.length, indices],
    )
  ).length > 0;

export const deleteUpload = (sql: Sql, task: string): Promise<unknown> =>
  sql.query('DELETE FROM export_uploads WHERE task = $1', [task]);

/** A content of a file, as a plan names it. */
export interface PlannedContent {
  readonly key: string;
  /** uuid */
  readonly file: string;
}

/** Returns the positions of contents that no version names any more, and whether their files still exist. Takes one statement. */
export const goneAmong = (
  sql: Sql,
  contents: readonly PlannedContent[],
): Promise<{ readonly position: number; readonly isReplaced: boolean }[]> =>
  sql.query(
    `SELECT (c.n - 1)::int AS position, EXISTS (SELECT FROM files f WHERE f.uuid = c.file) AS "isReplaced"
     FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS c (key, file, n)
     WHERE NOT EXISTS (SELECT FROM file_versions v JOIN files f ON f.id = v.file_id
       WHERE v.blob_name COLLATE "C" = c.key AND f.uuid = c.file)`,
    [contents.map(({ key }) => key), contents.map(({ file }) => file)],
  );
