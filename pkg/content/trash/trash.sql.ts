import {
  keyset,
  type KeysetRequest,
  nameKey,
  Parameters,
  type Statement,
  textKey,
  timeKey,
} from '../../store/postgres/keyset.ts';
import type { Ancestor } from '../model/access/inherited-access.policy.ts';
import { ancestorsOf } from '../model/files/files.sql.ts';
import { expiryOf, seenFrom } from '../model/folders/folders.sql.ts';
import { TRASH_SORT_FIELDS } from './trash.schema.ts';

export interface TrashedRow {
  readonly type: 'folder' | 'file';
  readonly uuid: string;
  readonly name: string;
  readonly path: string;
  readonly deletedAt: Date;
  readonly expiresAt: Date;
  /** Bytes. */
  readonly size: number;
  readonly ownerId: number;
  readonly ownerUuid: string;
  readonly ownerName: string;
  /** The folders above; of a folder it is the last itself. */
  readonly ancestors: readonly Ancestor[];
}

type TrashSort = (typeof TRASH_SORT_FIELDS)[number] | 'uuid';

export const TRASH = keyset<TrashedRow, TrashSort>({
  keys: {
    deleted_at: timeKey('t.deleted_at', ({ deletedAt }) => deletedAt),
    name: nameKey('t.name', ({ name }) => name),
    uuid: textKey('t.uuid::text', ({ uuid }) => uuid),
  },
  fields: TRASH_SORT_FIELDS,
  fallback: '-deleted_at',
  tieBreaker: 'uuid',
});

/** Everything that a user may write: what they own, and the files and folders granted to them at that level. */
export interface TrashViewer {
  readonly userId: number;
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/**
 * Returns the one statement of a page of the items that were deleted by themselves and that the viewer may write. Sizes and
 * parent folders are read after the page is chosen.
 */
export function trashList(viewer: TrashViewer, request: KeysetRequest<TrashSort>): Statement {
  const params = new Parameters();
  const [me, files, folders] = [params.add(viewer.userId), params.add(viewer.files), params.add(viewer.folders)];
  const order = TRASH.orderBy(request);
  const page = (from: string): string => {
    const where = TRASH.after(request, params);
    return `
      (SELECT * FROM (${from}) t ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY ${order}
        LIMIT ${params.add(request.limit + 1)})`;
  };
  const trashed = 'deleted_at IS NOT NULL AND trashed_with IS NULL';
  const sql = `
    WITH seen AS MATERIALIZED (
      SELECT DISTINCT b.id FROM folders r JOIN folders b ON b.ancestry <@ r.ancestry WHERE ${seenFrom(me, `${folders}::uuid[]`)}
    ), picked AS MATERIALIZED (
      SELECT * FROM (
        ${page(`SELECT 'folder' AS type, id, uuid, name, path, deleted_at, expires_at, 0::bigint AS size, owner_id,
            id AS folder_id FROM folders
          WHERE ${trashed} AND id IN (TABLE seen)`)}
        UNION ALL
        ${page(`SELECT 'file' AS type, id, uuid, name, path, deleted_at, expires_at, size, owner_id, folder_id FROM files
          WHERE ${trashed} AND (owner_id = ${me} OR uuid = ANY (${files}::uuid[]) OR folder_id IN (TABLE seen))`)}
      ) t ORDER BY ${order} LIMIT ${params.add(request.limit + 1)}
    )
    SELECT t.type, t.uuid, t.name, t.path, t.deleted_at AS "deletedAt", ${expiryOf('t')} AS "expiresAt", t.owner_id AS "ownerId",
      o.uuid AS "ownerUuid",
      coalesce(o.display_name, o.username) AS "ownerName", ${ancestorsOf('d')} AS ancestors,
      CASE t.type WHEN 'file' THEN t.size ELSE (
        SELECT coalesce(sum(f.size), 0)::bigint FROM folders b JOIN files f ON f.folder_id = b.id
        WHERE b.ancestry <@ d.ancestry AND f.trashed_with = t.id) END AS size
    FROM picked t JOIN users o ON o.id = t.owner_id LEFT JOIN folders d ON d.id = t.folder_id ORDER BY ${order}`;
  return { sql, params: params.values };
}
