import type { File, Folder } from '../../api/operations.generated.ts';

/** A file or folder as every list of the pages shows it, from whichever endpoint it comes. */
export interface Entry {
  readonly type: 'file' | 'folder';
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly owner: { readonly id: string; readonly name: string };
  /** The level of the reader; undefined in the trash. */
  readonly access?: File['access'] | undefined;
  /** ISO 8601: when it changed, or in the trash when it was deleted. */
  readonly time: string;
  /** Bytes; null for a folder outside of the trash. */
  readonly size: number | null;
  readonly mimeType: string | null;
  /** The number of a file's current version: it grows with each change of its content. */
  readonly version?: number | undefined;
  /** Of a file that came by a link: the name that its sender typed. */
  readonly sender?: string | null | undefined;
  /** Undefined in the trash, where nothing is changed but by restoring it. */
  readonly etag?: string | undefined;
  /** The folder in which it is; null: the reader's root; undefined: a root, or a folder that the reader may not know of. */
  readonly parentId?: string | null | undefined;
  /** Of a search: the name with each hit between U+E000 and U+E001. */
  readonly highlight?: string | undefined;
  /** The entry of a folder that is part of the service (a course). It is neither renamed nor moved. */
  readonly isSystem?: boolean | undefined;
  /** Of the trash: when it is deleted for ever. */
  readonly expiresAt?: string | undefined;
}

type Found = { readonly highlight?: string };

export const ofFolder = (folder: Folder & Found): Entry => ({
  type: 'folder',
  id: folder.id,
  name: folder.name,
  path: folder.path,
  owner: folder.owner,
  access: folder.access,
  time: folder.updated_at,
  size: null,
  mimeType: null,
  etag: folder.etag,
  parentId: folder.parent_id ?? undefined,
  highlight: folder.highlight,
  isSystem: folder.is_system,
});

type ListedFile = Pick<
  File,
  'id' | 'name' | 'path' | 'owner' | 'access' | 'updated_at' | 'size' | 'mime_type' | 'version' | 'etag' | 'folder'
> &
  Partial<Pick<File, 'uploaded_by'>> &
  Found;

export const ofFile = (file: ListedFile): Entry => ({
  type: 'file',
  id: file.id,
  name: file.name,
  path: file.path,
  owner: file.owner,
  access: file.access,
  time: file.updated_at,
  size: file.size,
  mimeType: file.mime_type,
  version: file.version,
  sender: file.uploaded_by,
  etag: file.etag,
  parentId: file.folder?.id,
  highlight: file.highlight,
});

export const entryOf = (
  child: (Folder & Found & { readonly type: 'folder' }) | (ListedFile & { readonly type: 'file' }),
): Entry => (child.type === 'folder' ? ofFolder(child) : ofFile(child));

/** Says whether the reader may only read it. */
export const isReadOnly = ({ access }: Entry): boolean => access === 'read';

/** Says whether it may be renamed, moved and deleted. */
export const isMovable = (entry: Entry): boolean => !entry.isSystem && !isReadOnly(entry);

/** Returns an entry that was listed in the reader's root. The API names no folder also where the reader may not know of it. */
export const inOwnRoot = (entry: Entry): Entry => ({ ...entry, parentId: null });

/** Says whether it may be in the root of the person `me`, or in a folder that they may not know of. */
export const isOfUnknownOrigin = ({ parentId, owner }: Entry, me: string): boolean => parentId === undefined && owner.id === me;

export const idOf = ({ id }: Entry): string => id;
export const nameOf = ({ name }: Entry): string => name;

/** Returns where the name without its ending stops: what somebody who renames a file changes. */
export function stemLength({ type, name }: Entry): number {
  const dot = name.lastIndexOf('.');
  return type === 'folder' || dot <= 0 ? name.length : dot;
}
