import { z } from 'zod';
import type { Actor } from '../../api/actor.ts';
import { etagOf } from '../../api/etag.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { type Granted, hiddenAbove } from '../access/access.policy.ts';
import { pathBelow } from '../names/names.policy.ts';
import type { FileView } from './files.schema.ts';

/**
 * A file as this room reads it: its row, its owner's and folder's names, and the folders above it, by which access is decided.
 * It is what the cache holds (specification: Cached data, File metadata), so it is plain JSON; times are ISO 8601.
 */
export interface FileRecord {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly mimeType: string | null;
  /** Hex SHA-256. */
  readonly checksum: string;
  readonly blobName: string;
  readonly version: number;
  readonly revision: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deletedAt: string | null;
  readonly ownerId: number;
  readonly ownerUuid: string;
  readonly ownerName: string;
  readonly folder: { readonly id: number; readonly uuid: string; readonly name: string } | null;
  readonly ancestors: readonly { readonly uuid: string; readonly ownerId: number }[];
}

/** The columns of a FileRecord but its ancestors; wants `files f` and FILE_JOINS. */
export const FILE_COLUMNS = `f.id, f.uuid, f.name, f.path, f.size, f.mime_type AS "mimeType", f.checksum, f.blob_name AS "blobName",
  f.version_number AS version, f.revision, f.created_at AS "createdAt", f.updated_at AS "updatedAt", f.deleted_at AS "deletedAt",
  f.owner_id AS "ownerId", o.uuid AS "ownerUuid", coalesce(o.display_name, o.username) AS "ownerName",
  CASE WHEN d.id IS NOT NULL THEN jsonb_build_object('id', d.id, 'uuid', d.uuid, 'name', d.name) END AS folder`;
export const FILE_JOINS = 'LEFT JOIN users o ON o.id = f.owner_id LEFT JOIN folders d ON d.id = f.folder_id';

/** The folders from the root down to folder `alias`, itself the last, as `[{ uuid, ownerId }]`. */
export const ancestorsOf = (alias: string): string => `(
  SELECT coalesce(jsonb_agg(jsonb_build_object('uuid', a.uuid, 'ownerId', a.owner_id) ORDER BY a.depth), '[]')
  FROM folders a WHERE a.id = ANY (string_to_array(ltree2text(${alias}.ancestry), '.')::bigint[]))`;

const FIND = `SELECT ${FILE_COLUMNS}, ${ancestorsOf('d')} AS ancestors FROM files f ${FILE_JOINS} WHERE f.uuid = $1`;

export type FileRow = Omit<FileRecord, 'createdAt' | 'updatedAt' | 'deletedAt' | 'ancestors'> & {
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deletedAt: Date | null;
  readonly ancestors?: FileRecord['ancestors'];
};

export const recordOf = (row: FileRow): FileRecord => ({
  ...row,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  deletedAt: row.deletedAt?.toISOString() ?? null,
  ancestors: row.ancestors ?? [],
});

/** One statement. `lock`: until the end of the transaction nobody else changes the file. */
export async function findFile(sql: Executor, uuid: string, lock = false): Promise<FileRecord | null> {
  const [row] = lock
    ? await sql.prepared<FileRow>('content-file-locked', `${FIND} FOR UPDATE OF f`, [uuid])
    : await sql.prepared<FileRow>('content-file', FIND, [uuid]);
  return row ? recordOf(row) : null;
}

/** A file as somebody sees it: a folder that they may not know of is null, and the path begins at the highest that they may. */
export type SeenFile = FileRecord & { readonly hidden: number };

export function fileSeenBy(actor: Pick<Actor, 'userId'>, granted: Granted, file: FileRecord): SeenFile {
  const hidden = hiddenAbove(actor, file.ancestors, granted);
  if (hidden === 0) return { ...file, hidden };
  return { ...file, hidden, folder: hidden < file.ancestors.length ? file.folder : null, path: pathBelow(file.path, hidden) };
}

/** What is shown counts, so the names of owner and folder are in the tag too, and a path of which part is hidden. */
export const fileEtag = (file: SeenFile): string =>
  etagOf(
    'file',
    file.uuid,
    JSON.stringify([file.revision, file.ownerName, file.folder?.name ?? null, ...(file.hidden > 0 ? [file.path] : [])]),
  );

/** The metadata shape (specification: File, API shapes), with further fields of our own. */
export const presentFile = (file: SeenFile): FileView => ({
  id: file.uuid,
  name: file.name,
  size: file.size,
  mime_type: file.mimeType,
  owner: { id: file.ownerUuid, name: file.ownerName },
  folder: file.folder ? { id: file.folder.uuid, name: file.folder.name } : null,
  created_at: file.createdAt,
  updated_at: file.updatedAt,
  path: file.path,
  version: file.version,
  checksum: file.checksum,
  etag: fileEtag(file),
  deleted_at: file.deletedAt,
});

/** A record from the cache: whoever wrote it was another version of this program, perhaps, so its shape is checked. */
const Kept = z.object({
  id: z.number(),
  uuid: z.string(),
  name: z.string(),
  path: z.string(),
  size: z.number(),
  mimeType: z.string().nullable(),
  checksum: z.string(),
  blobName: z.string(),
  version: z.number(),
  revision: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
  deletedAt: z.string().nullable(),
  ownerId: z.number(),
  ownerUuid: z.string(),
  ownerName: z.string(),
  folder: z.object({ id: z.number(), uuid: z.string(), name: z.string() }).nullable(),
  ancestors: z.array(z.object({ uuid: z.string(), ownerId: z.number() })),
});

/** Undefined when it has another shape: then it is loaded anew. */
export const keptRecord = (text: string): FileRecord | undefined => Kept.safeParse(JSON.parse(text)).data;
