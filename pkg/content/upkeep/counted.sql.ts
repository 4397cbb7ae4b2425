import { ENTRY_BYTES } from '../model/metadata-bytes.ts';

/**
 * Returns SQL for the correct users.storage_used of a user: bytes of all versions and metadata of their files, including the
 * trash.
 */
export const BYTES_OF = (user: string): string => `(
  (SELECT coalesce(sum(v.size), 0) FROM files f JOIN file_versions v ON v.file_id = f.id WHERE f.owner_id = ${user})
  + (SELECT coalesce(sum(${ENTRY_BYTES}), 0) FROM files f JOIN file_metadata m ON m.file_id = f.id
    WHERE f.owner_id = ${user}))::bigint`;

/**
 * Returns SQL for the part of users.entries that passes on with a user's files and folders: those, the trash included, and
 * versions after the first.
 */
export const ENTRIES_OF_FILES = (user: string): string => `(
  (SELECT count(*) FROM files f WHERE f.owner_id = ${user})
  + (SELECT count(*) FROM folders d WHERE d.owner_id = ${user})
  + (SELECT count(*) FROM files f JOIN file_versions v ON v.file_id = f.id WHERE f.owner_id = ${user} AND v.version_number > 1))`;

/**
 * Returns SQL for the correct users.entries of a user. It includes the share links that they made, their tags, and the files
 * that have those.
 */
export const ENTRIES_OF = (user: string): string => `(${ENTRIES_OF_FILES(user)}
  + (SELECT count(*) FROM shares s WHERE s.created_by = ${user})
  + (SELECT count(*) FROM tags t WHERE t.owner_id = ${user})
  + (SELECT count(*) FROM tags t JOIN file_tags l ON l.tag_id = t.id WHERE t.owner_id = ${user}))`;
