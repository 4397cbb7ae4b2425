import type { Level } from '../../../api/actor.ts';
import { etagOf } from '../../../api/etag.ts';
import type { Caller } from '../access/caller.ts';
import { accessOf, hiddenAncestors, limitedAccess } from '../access/inherited-access.policy.ts';
import { pathBelow } from '../names/names.policy.ts';
import type { FolderView } from './folders.schema.ts';
import type { FolderRecord } from './folders.sql.ts';

/** A folder as one caller sees it: path, parent and depth begin at the highest folder that they may know of. */
export type SeenFolder = FolderRecord & { readonly hidden: number; readonly access: Level };

export function folderSeenBy(caller: Caller, folder: FolderRecord): SeenFolder {
  const hidden = hiddenAncestors(caller, folder.ancestors);
  const parentUuid = hidden < folder.ancestors.length - 1 ? folder.parentUuid : null;
  const access = accessOf('folder', caller, folder);
  return { ...folder, hidden, access, parentUuid, path: pathBelow(folder.path, hidden), depth: folder.depth - hidden };
}

export const folderEtag = (folder: SeenFolder): string =>
  etagOf(
    'folder',
    folder.uuid,
    JSON.stringify([folder.revision, folder.ownerName, ...(folder.hidden > 0 ? [folder.path] : []), ...limitedAccess(folder)]),
  );

export const presentFolder = (folder: SeenFolder): FolderView => ({
  id: folder.uuid,
  name: folder.name,
  path: folder.path,
  parent_id: folder.parentUuid,
  owner: { id: folder.ownerUuid, name: folder.ownerName },
  access: folder.access,
  depth: folder.depth,
  is_system: folder.isSystem,
  created_at: folder.createdAt.toISOString(),
  updated_at: folder.updatedAt.toISOString(),
  deleted_at: folder.deletedAt?.toISOString() ?? null,
  etag: folderEtag(folder),
});
