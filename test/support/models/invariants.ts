import type { Sql } from '../../../pkg/store/postgres/pool.ts';
import type { Objects } from '../../../pkg/store/s3/objects.ts';

/**
 * Checks what holds of a tenant's rows and objects whenever nothing is in progress, however it was interrupted before. Returns
 * a sentence for each fault. The invariants:
 *
 * - what counts to a user is the sum of all versions of all files they own, and of their metadata in whole KiB; files, folders,
 *   versions after the first, share links, tags and tagged files are counted;
 * - a file is its newest version, which has the highest number;
 * - every version's object is there, with its size, and so is that of every segment of an upload that goes on;
 * - every object has a version, or work that waits will delete it (its purge, or the sweep of its day);
 * - paths, depths and ancestries follow the folders, and no folder is below itself;
 * - nothing live is in a trashed folder, and what went to the trash with a folder lies in it;
 * - a grant that was given through another neither exceeds nor outlives it, and whoever gave it has that one.
 */
export async function invariantFaults(db: Sql, objects: Objects): Promise<string[]> {
  return [...(await rowFaults(db)), ...(await objectFaults(db, objects))];
}

const ROW_FAULTS = `
  SELECT format('%s: %s bytes count, %s are there', u.username, u.storage_used, v.bytes + m.bytes) AS fault
  FROM users u
    CROSS JOIN LATERAL (SELECT coalesce(sum(v.size), 0) AS bytes FROM files f JOIN file_versions v ON v.file_id = f.id
      WHERE f.owner_id = u.id) v
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(ceil((octet_length(m.key) + coalesce(octet_length(m.value), 0)) / 1024.0) * 1024), 0) AS bytes
      FROM files f JOIN file_metadata m ON m.file_id = f.id WHERE f.owner_id = u.id) m
  WHERE u.storage_used <> v.bytes + m.bytes
  UNION ALL
  SELECT format('%s: %s entries count, %s are there', u.username, u.entries, n.entries)
  FROM users u CROSS JOIN LATERAL (
    SELECT count(*) AS entries FROM (
      SELECT owner_id FROM files UNION ALL SELECT owner_id FROM folders UNION ALL SELECT created_by FROM shares
      UNION ALL SELECT owner_id FROM tags
      UNION ALL SELECT t.owner_id FROM file_tags l JOIN tags t ON t.id = l.tag_id
      UNION ALL SELECT f.owner_id FROM file_versions v JOIN files f ON f.id = v.file_id WHERE v.version_number > 1
    ) e (user_id) WHERE e.user_id = u.id) n
  WHERE u.entries <> n.entries
  UNION ALL
  SELECT format('%s is version %s of %s', f.path, f.version_number, count(v.id))
  FROM files f LEFT JOIN file_versions v ON v.file_id = f.id
  GROUP BY f.id HAVING max(v.version_number) IS DISTINCT FROM f.version_number
    OR NOT bool_or(v.version_number = f.version_number AND v.blob_name = f.blob_name AND v.size = f.size
      AND v.checksum = f.checksum)
  UNION ALL
  SELECT format('the path of %s is %s', f.name, f.path) FROM files f LEFT JOIN folders d ON d.id = f.folder_id
  WHERE f.path <> coalesce(d.path, '') || '/' || f.name
  UNION ALL
  SELECT format('the path of folder %s is %s', d.name, d.path) FROM folders d LEFT JOIN folders p ON p.id = d.parent_id
  WHERE d.path <> coalesce(p.path, '') || '/' || d.name
  UNION ALL
  SELECT format('folder %s is at %s, of depth %s', d.path, d.ancestry, d.depth) FROM folders d
  LEFT JOIN folders p ON p.id = d.parent_id
  WHERE ltree2text(d.ancestry) <> concat_ws('.', ltree2text(p.ancestry), d.id) OR d.depth <> coalesce(p.depth + 1, 0)
  UNION ALL
  SELECT format('folder %s is below itself, or hangs below nothing', d.path) FROM folders d WHERE d.id NOT IN (
    WITH RECURSIVE tree AS (
      SELECT id FROM folders WHERE parent_id IS NULL UNION ALL SELECT b.id FROM tree t JOIN folders b ON b.parent_id = t.id
    ) SELECT id FROM tree)
  UNION ALL
  SELECT format('%s is live below a folder in the trash', b.path)
  FROM (SELECT path, folder_id AS parent_id, deleted_at FROM files UNION ALL SELECT path, parent_id, deleted_at FROM folders) b
  JOIN folders d ON d.id = b.parent_id WHERE b.deleted_at IS NULL AND d.deleted_at IS NOT NULL
  UNION ALL
  SELECT format('%s went to the trash with folder %s, which is not above it or not there', b.path, b.trashed_with)
  FROM (SELECT path, folder_id AS parent_id, deleted_at, trashed_with FROM files
    UNION ALL SELECT path, parent_id, deleted_at, trashed_with FROM folders) b LEFT JOIN folders d ON d.id = b.parent_id
  WHERE b.trashed_with IS NOT NULL AND (b.deleted_at IS NULL OR d.id IS NULL OR d.deleted_at <> b.deleted_at
    OR coalesce(d.trashed_with, d.id) <> b.trashed_with)
  UNION ALL
  SELECT format('grant %s does not rest on grant %s', p.uuid, s.uuid)
  FROM permissions p JOIN permissions s ON s.id = p.granted_through
  WHERE s.permission_level <> 'admin' OR coalesce(p.expires_at, 'infinity') > coalesce(s.expires_at, 'infinity')
    OR s.user_id <> p.granted_by
    OR s.group_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM group_members m WHERE m.group_id = s.group_id AND m.user_id = p.granted_by)
  UNION ALL
  SELECT format('grant %s rests on itself', uuid) FROM permissions WHERE id NOT IN (
    WITH RECURSIVE resting AS (
      SELECT id FROM permissions WHERE granted_through IS NULL
      UNION ALL SELECT p.id FROM resting r JOIN permissions p ON p.granted_through = r.id
    ) SELECT id FROM resting)`;

const rowFaults = async (db: Sql): Promise<string[]> => (await db.query<{ fault: string }>(ROW_FAULTS)).map(({ fault }) => fault);

async function objectFaults(db: Sql, objects: Objects): Promise<string[]> {
  const stored = new Map<string, number>();
  for await (const { key, size } of objects.list()) stored.set(key, size);
  const versions = await db.query<{ key: string; size: number }>(
    `SELECT blob_name AS key, size FROM file_versions UNION ALL SELECT key, size FROM partial_upload_segments
     UNION ALL SELECT key, size FROM exports`,
  );
  const awaited = await db.query<{ key: string }>(
    `SELECT jsonb_array_elements_text(payload->'keys') AS key FROM carrel.work WHERE kind = 'objects.purge'
     UNION ALL SELECT payload->>'day' || '/' FROM carrel.work WHERE kind = 'objects.sweep'`,
  );
  const known = new Set(versions.map(({ key }) => key));
  const isAwaited = (key: string): boolean =>
    awaited.some((work) => (work.key.endsWith('/') ? key.startsWith(work.key) : key === work.key));
  return [
    ...versions
      .filter(({ key, size }) => stored.get(key) !== size)
      .map(({ key, size }) => `object ${key} of ${size} bytes: ${stored.get(key)}`),
    ...[...stored.keys()].filter((key) => !known.has(key) && !isAwaited(key)).map((key) => `object ${key} is nobody's`),
  ];
}
