import { offer } from './function.ts';

/**
 * store_files makes new files of uploads, each with its version 1, and counts their bytes to their owners. `uploads` is an array
 * of objects with the columns that are named below; it returns the files that it made, as JSON, since each tenant's rows of files
 * are of a type of their own. An upload is left out, and nothing is changed for it, where its name is taken, its owner's quota
 * has no room for it beside what uploads in progress have reserved, its folder is in the trash or no longer what the upload saw
 * (path, folders above and their owners), or another transaction holds the row of its owner or folder.
 *
 * It never waits for the row of an owner or a folder, since uploads of other people are in the same call, and 100 ms at most for
 * a name that another transaction is about to take: a transaction that has the name and waits for the owner would otherwise be a
 * deadlock. Names are inserted in the order of their unique indexes, so two calls do not wait for each other. Owners and folders
 * are locked before anything is added up, as in count_storage: each statement of the function sees what was committed before it.
 */
export const storeFilesFunctions = `
  CREATE OR REPLACE FUNCTION carrel.store_files(uploads jsonb, at timestamptz) RETURNS SETOF jsonb
  LANGUAGE plpgsql SET lock_timeout = '100ms' AS $$
  DECLARE
    open_folders bigint[];
    free_owners bigint[];
  BEGIN
    SELECT array_agg(d.id) INTO open_folders FROM (
      SELECT id FROM folders
      WHERE id IN (SELECT (u ->> 'folder_id')::bigint FROM jsonb_array_elements(uploads) u) AND deleted_at IS NULL
      ORDER BY id FOR SHARE SKIP LOCKED) d;
    SELECT array_agg(o.id) INTO free_owners FROM (
      SELECT id FROM users WHERE id IN (SELECT (u ->> 'owner_id')::bigint FROM jsonb_array_elements(uploads) u)
      ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) o;
    RETURN QUERY
    WITH wanted AS (
      SELECT u.*, sum(u.size) OVER (PARTITION BY u.owner_id ORDER BY u.position) AS together
      FROM ROWS FROM (jsonb_to_recordset(uploads) AS (
          uuid uuid, name text, path text, extension text, mime_type text, size bigint, checksum text, crc32 bigint,
          owner_id bigint, folder_id bigint, folder_path text, ancestors jsonb, bucket text, key text, is_encrypted boolean))
        WITH ORDINALITY AS u (
          uuid, name, path, extension, mime_type, size, checksum, crc32,
          owner_id, folder_id, folder_path, ancestors, bucket, key, is_encrypted, position)
      WHERE u.owner_id = ANY (free_owners) AND (u.folder_id IS NULL OR EXISTS (
        SELECT FROM folders d WHERE d.id = u.folder_id AND d.id = ANY (open_folders) AND d.path = u.folder_path
          AND u.ancestors = (
          SELECT jsonb_agg(jsonb_build_object('uuid', a.uuid, 'ownerId', a.owner_id) ORDER BY a.depth) FROM folders a
          WHERE a.id = ANY (string_to_array(ext.ltree2text(d.ancestry), '.')::bigint[]))))
    ), file AS (
      INSERT INTO files AS f (uuid, name, path, extension, mime_type, size, checksum, owner_id, folder_id,
        blob_container, blob_name, is_encrypted)
      SELECT w.uuid, w.name, w.path, w.extension, w.mime_type, w.size, w.checksum, w.owner_id, w.folder_id, w.bucket, w.key,
        coalesce(w.is_encrypted, false)
      FROM wanted w JOIN users o ON o.id = w.owner_id
      WHERE o.storage_used + w.together
        + (SELECT coalesce(sum(r.bytes), 0) FROM storage_reservations r WHERE r.user_id = o.id AND r.expires_at > at)
          <= o.storage_quota
      ORDER BY w.folder_id, CASE WHEN w.folder_id IS NULL THEN w.owner_id END, w.name
      ON CONFLICT DO NOTHING RETURNING f.*
    ), version AS (
      INSERT INTO file_versions (file_id, version_number, size, checksum, crc32, blob_name, created_by, is_encrypted)
      SELECT f.id, 1, f.size, f.checksum, w.crc32, f.blob_name, f.owner_id, f.is_encrypted FROM file f
      JOIN wanted w ON w.uuid = f.uuid
    ), counted AS (
      UPDATE users o SET storage_used = o.storage_used + s.bytes
      FROM (SELECT f.owner_id, sum(f.size) AS bytes FROM file f GROUP BY f.owner_id) s WHERE o.id = s.owner_id
    )
    SELECT to_jsonb(f) - 'name_search' FROM file f;
  END $$;
  ${offer('carrel_tenant', 'store_files')}
`;
