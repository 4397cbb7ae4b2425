import { z } from 'zod';
import { isoTime } from '../../../store/postgres/client.ts';
import type { Executor } from '../../../store/postgres/database.ts';
import type { Sql } from '../../../store/postgres/pool.ts';
import type { Ancestor } from '../access/inherited-access.policy.ts';

/** A field of a file: its SQL expression and its JSON schema. A time is a Date in a row and ISO 8601 in JSON. */
interface Field<T, Time extends boolean = boolean> {
  readonly sql: string;
  readonly json: z.ZodType<T>;
  readonly isTime: Time;
}

const field = <T>(sql: string, json: z.ZodType<T>): Field<T, false> => ({ sql, json, isTime: false });
const time = <T extends string | null>(sql: string, json: z.ZodType<T>): Field<T, true> => ({ sql, json, isTime: true });

/** The table's own columns; wants `files f`. */
const OWN = {
  id: field('f.id', z.number()),
  uuid: field('f.uuid', z.string()),
  name: field('f.name', z.string()),
  path: field('f.path', z.string()),
  size: field('f.size', z.number()),
  mimeType: field('f.mime_type', z.string().nullable()),
  /** Hex SHA-256. */
  checksum: field('f.checksum', z.string()),
  blobName: field('f.blob_name', z.string()),
  isEncrypted: field('f.is_encrypted', z.boolean()),
  version: field('f.version_number', z.number()),
  revision: field('f.revision', z.number()),
  createdAt: time('f.created_at', z.string()),
  updatedAt: time('f.updated_at', z.string()),
  deletedAt: time('f.deleted_at', z.string().nullable()),
  ownerId: field('f.owner_id', z.number()),
  /** The name that a sender by a share link typed; null: the owner uploaded the file. */
  uploadedBy: field('f.uploaded_by', z.string().nullable()),
};

/** Columns of FILE_JOINS: the owner's and the folder's names. */
const JOINED = {
  ownerUuid: field('o.uuid', z.string()),
  ownerName: field('coalesce(o.display_name, o.username)', z.string()),
  folder: field(
    "CASE WHEN d.id IS NOT NULL THEN jsonb_build_object('id', d.id, 'uuid', d.uuid, 'name', d.name) END",
    z.object({ id: z.number(), uuid: z.string(), name: z.string() }).nullable(),
  ),
};

/** The folders above, from the root down, by which access is decided. */
const Ancestors = z.array(z.object({ uuid: z.string(), ownerId: z.number() }));

type Fields = Readonly<Record<string, Field<unknown>>>;
type JsonOf<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };
type RowOf<F> = {
  readonly [K in keyof F]: F[K] extends Field<infer T, true> ? Date | Extract<T, null> : F[K] extends Field<infer T> ? T : never;
};

/** A file as this package reads it. The cache holds it (docs/design/api-conventions.md, Caches), so it is plain JSON. */
export type FileRecord = JsonOf<typeof OWN> & JsonOf<typeof JOINED> & { readonly ancestors: readonly Ancestor[] };
/** A row of FILE_COLUMNS. */
export type FileRow = RowOf<typeof OWN> & RowOf<typeof JOINED> & { readonly ancestors?: FileRecord['ancestors'] };

/** The columns of the table alone, as INSERT and UPDATE return them. */
export type OwnRecord = JsonOf<typeof OWN>;
export type OwnRow = RowOf<typeof OWN>;

const { blobName: _blobName, ...LISTED } = OWN;
type ListedRecord = JsonOf<typeof LISTED>;

/** The columns of a file that a list reads: the table's own, times as Postgres writes them, and the folder's internal id. */
export type ListedRow = ListedRecord & { readonly folderId: number | null };

/**
 * What tells whether a file is as it was when its ListedRow was read: each change makes a new revision. The others are for a
 * database that was brought back to an earlier moment, after which a revision may come again.
 */
export type Stamp = Pick<ListedRow, (typeof STAMP)[number] | 'folderId'>;
const STAMP = [
  'id',
  'uuid',
  'revision',
  'path',
  'updatedAt',
  'deletedAt',
  'ownerId',
] as const satisfies readonly (keyof ListedRecord)[];

/** What a list reads beside the rows of its files: the owner, and the folder with those above it. */
export type Surroundings = Pick<FileRecord, 'ownerUuid' | 'ownerName' | 'folder' | 'ancestors'>;

/** A file of a list. */
export type ListedFile = Omit<FileRecord, 'blobName'>;

const columnsOf = (fields: Fields, castOfTimes = ''): string =>
  Object.entries(fields)
    .map(([name, { sql, isTime }]) => `${sql}${isTime ? castOfTimes : ''} AS "${name}"`)
    .join(', ');

/** The columns of an OwnRow; wants `files f`. */
export const OWN_COLUMNS = columnsOf(OWN);
/** The same columns by name, for a common table expression with OWN_COLUMNS. */
export const OWN_NAMES = Object.keys(OWN)
  .map((name) => `"${name}"`)
  .join(', ');
/** The columns of a FileRow but its ancestors; wants `files f` and FILE_JOINS. */
export const FILE_COLUMNS = columnsOf({ ...OWN, ...JOINED });
export const FILE_JOINS = 'LEFT JOIN users o ON o.id = f.owner_id LEFT JOIN folders d ON d.id = f.folder_id';

/** Returns the folders from the root down to folder `alias`, itself the last, as `[{ uuid, ownerId }]`. */
export const ancestorsOf = (alias: string): string => `(
  SELECT coalesce(jsonb_agg(jsonb_build_object('uuid', a.uuid, 'ownerId', a.owner_id) ORDER BY a.depth), '[]')
  FROM folders a WHERE a.id = ANY (string_to_array(ltree2text(${alias}.ancestry), '.')::bigint[]))`;

/** Columns by the table's own names, for a common table expression, and as the row names them; both want `files f`. */
export interface ListedColumns {
  readonly names: string;
  readonly columns: string;
}

const listedColumns = (fields: Fields): ListedColumns => ({
  names: [...Object.values(fields).map(({ sql }) => sql), 'f.folder_id'].join(', '),
  columns: `${columnsOf(fields, '::text')}, f.folder_id AS "folderId"`,
});

/** The columns of a ListedRow. */
export const LISTED_COLUMNS = listedColumns(LISTED);

/** Returns the columns of a Stamp, and those by which a list is sorted. */
export const stampColumns = (sort: readonly { readonly field: keyof typeof SORTED }[]): ListedColumns =>
  listedColumns(Object.fromEntries([...STAMP, ...sort.map(({ field }) => SORTED[field])].map((name) => [name, LISTED[name]])));

const SORTED = { id: 'id', name: 'name', size: 'size', created_at: 'createdAt', updated_at: 'updatedAt' } as const;

/**
 * Returns the condition that row `alias`, which the statement locks, is as it was when the statement began. Where it was
 * changed while the lock was waited for, Postgres gives it as it is now, beside what it was joined with before (PostgreSQL,
 * 13.2.1): a folder that it was moved to is missing.
 */
export const unchangedSince = (alias: 'f' | 'd', table: 'files' | 'folders'): string =>
  `${alias}.revision = (SELECT b.revision FROM ${table} b WHERE b.id = ${alias}.id) AS "isUnchanged"`;

const find = (columns: string): string =>
  `SELECT ${columns}, ${ancestorsOf('d')} AS ancestors FROM files f ${FILE_JOINS} WHERE f.uuid = $1`;
const FIND = find(FILE_COLUMNS);
const LOCK = `${find(`${FILE_COLUMNS}, ${unchangedSince('f', 'files')}`)} FOR UPDATE OF f`;

const TIMES = Object.entries(OWN).flatMap(([name, { isTime }]) => (isTime ? [name] : []));

/**
 * Returns the same row with times as text, and with all other columns: leaving columns out of a copy takes longer than the rest
 * of a page.
 */
function withTimes(row: object): Record<string, unknown> {
  const record: Record<string, unknown> = { ...row };
  for (const name of TIMES) record[name] = (record[name] as Date | null)?.toISOString() ?? null;
  return record;
}

/** Returns the file of a row, which may have further columns. */
export const listedFileOf = (row: ListedRecord, { ownerUuid, ownerName, folder, ancestors }: Surroundings): ListedFile => ({
  ...row,
  createdAt: isoTime(row.createdAt),
  updatedAt: isoTime(row.updatedAt),
  deletedAt: row.deletedAt && isoTime(row.deletedAt),
  ownerUuid,
  ownerName,
  folder,
  ancestors,
});
export const ownRecordOf = (row: OwnRow): OwnRecord => withTimes(row) as OwnRecord;
export const recordOf = (row: FileRow): FileRecord => ({ ...(withTimes(row) as FileRecord), ancestors: row.ancestors ?? [] });

const FileJson = z.object({
  ...Object.fromEntries(Object.entries<Field<unknown>>({ ...OWN, ...JOINED }).map(([name, { json }]) => [name, json])),
  ancestors: Ancestors,
}) as unknown as z.ZodType<FileRecord>;

/** Returns a record from the cache; undefined if another release wrote it in another shape. */
export const cachedRecord = (text: string): FileRecord | undefined => FileJson.safeParse(JSON.parse(text)).data;

/** Takes one statement; none for no ids. */
export async function filesById(sql: Executor, ids: readonly number[]): Promise<FileRecord[]> {
  if (ids.length === 0) return [];
  const rows = await sql.prepared<FileRow>('content-files-by-id', FIND.replace('f.uuid = $1', 'f.id = ANY ($1::bigint[])'), [
    ids,
  ]);
  return rows.map(recordOf);
}

/**
 * Takes one statement. `lock`: locks the file until the end of the transaction; a second statement runs if the file changed
 * during the wait for the lock.
 */
export async function findFile(sql: Executor, uuid: string, lock = false): Promise<FileRecord | null> {
  if (lock) {
    const [locked] = await sql.prepared<FileRow & { isUnchanged: boolean }>('content-file-locked', LOCK, [uuid]);
    if (!locked) return null;
    const { isUnchanged, ...file } = locked;
    if (isUnchanged) return recordOf(file);
  }
  const [row] = await sql.prepared<FileRow>('content-file', FIND, [uuid]);
  return row ? recordOf(row) : null;
}

/**
 * Locks files until the end of the transaction, in the order of their ids, so that two that lock several do not deadlock. One
 * statement.
 */
export const lockFiles = (tx: Sql, uuids: readonly string[]): Promise<unknown> =>
  tx.query('SELECT FROM files WHERE uuid = ANY ($1::uuid[]) ORDER BY id FOR UPDATE', [uuids]);

/** Returns files in the order of `uuids` (lower case); null where there is none. Takes one statement. */
export async function findFiles(sql: Executor, uuids: readonly string[]): Promise<(FileRecord | null)[]> {
  const rows = await sql.prepared<FileRow>('content-files-by-uuid', FIND.replace('f.uuid = $1', 'f.uuid = ANY ($1::uuid[])'), [
    uuids,
  ]);
  const found = new Map(rows.map((row) => [row.uuid, row]));
  return uuids.map((uuid) => {
    const row = found.get(uuid);
    return row ? recordOf(row) : null;
  });
}
