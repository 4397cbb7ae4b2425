import type { Level } from '../../../api/actor.ts';
import { etagOf } from '../../../api/etag.ts';
import type { Caller } from '../access/caller.ts';
import { accessOf, hiddenAncestors, limitedAccess } from '../access/inherited-access.policy.ts';
import { pathBelow } from '../names/names.policy.ts';
import type { FileView, UploadView } from './files.schema.ts';
import type { FileRecord, ListedFile } from './files.sql.ts';

/**
 * A file as one caller sees it: a folder that they may not know of is null, and the path begins at the highest folder that they
 * may.
 */
export type SeenFile<F extends ListedFile = FileRecord> = F & { readonly hidden: number; readonly access: Level };

export function fileSeenBy<F extends ListedFile>(caller: Caller, file: F): SeenFile<F> {
  const hidden = hiddenAncestors(caller, file.ancestors);
  const access = accessOf('file', caller, file);
  if (hidden === 0) return { ...file, hidden, access };
  const folder = hidden < file.ancestors.length ? file.folder : null;
  return { ...file, hidden, access, folder, path: pathBelow(file.path, hidden) };
}

/**
 * The entity tag covers all that is shown: also the names of owner and folder, a path of which part is hidden, and what those may
 * do who are not admin.
 */
export const fileEtag = (file: SeenFile<ListedFile>): string =>
  etagOf(
    'file',
    file.uuid,
    JSON.stringify([
      file.revision,
      file.ownerName,
      file.folder?.name ?? null,
      ...(file.hidden > 0 ? [file.path] : []),
      ...limitedAccess(file),
    ]),
  );

/** Returns a file as replies show it. */
export const presentFile = (file: SeenFile<ListedFile>): FileView => ({
  id: file.uuid,
  name: file.name,
  size: file.size,
  mime_type: file.mimeType,
  owner: { id: file.ownerUuid, name: file.ownerName },
  access: file.access,
  folder: file.folder ? { id: file.folder.uuid, name: file.folder.name } : null,
  created_at: file.createdAt,
  updated_at: file.updatedAt,
  path: file.path,
  version: file.version,
  checksum: file.checksum,
  is_encrypted: file.isEncrypted,
  etag: fileEtag(file),
  deleted_at: file.deletedAt,
  uploaded_by: file.uploadedBy,
});

/** Returns the reply to an upload (docs/design/records.md, File). `apiUrl` has no slash at the end. */
export const presentUpload = (file: SeenFile, apiUrl: string): UploadView => ({
  id: file.uuid,
  name: file.name,
  size: file.size,
  mime_type: file.mimeType ?? 'application/octet-stream',
  url: `${apiUrl}/files/${file.uuid}/download`,
  created_at: file.createdAt,
  updated_at: file.updatedAt,
  folder_id: file.folder?.uuid ?? null,
  version: file.version,
  checksum: file.checksum,
  etag: fileEtag(file),
});
