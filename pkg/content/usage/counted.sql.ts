import { ENTRY_BYTES } from '../metadata/metadata-bytes.ts';

/** What users.storage_used of a user is to be: bytes of all versions and metadata of their files, the trash included. */
export const BYTES_OF = (user: string): string => `(
  (SELECT coalesce(sum(v.size), 0) FROM files f JOIN file_versions v ON v.file_id = f.id WHERE f.owner_id = ${user})
  + (SELECT coalesce(sum(${ENTRY_BYTES}), 0) FROM files f JOIN file_metadata m ON m.file_id = f.id WHERE f.owner_id = ${user}))::bigint`;

/** What users.entries of a user is to be: their files and folders, the trash included. */
export const ENTRIES_OF = (user: string): string =>
  `((SELECT count(*) FROM files f WHERE f.owner_id = ${user}) + (SELECT count(*) FROM folders d WHERE d.owner_id = ${user}))`;
