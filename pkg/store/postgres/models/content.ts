import { bigint, boolean, filled, integer, ltree, nullable, oneOf, table, text, timestamp, uuid } from '../columns.ts';

/** docs/design/records.md, Folder. `ancestry` has the internal ids from the root down to the folder itself, joined by dots. */
export const folders = table('folders', ['id'], {
  id: filled(bigint),
  uuid,
  name: text,
  path: text,
  parentId: nullable(bigint),
  ownerId: bigint,
  depth: filled(integer),
  /** The database fills it from the parent's; it is written only when a folder moves. */
  ancestry: filled(ltree),
  isSystem: filled(boolean),
  revision: filled(bigint),
  createdAt: filled(timestamp),
  updatedAt: filled(timestamp),
  deletedAt: nullable(timestamp),
  /** The folder with which it went to the trash; null if it was deleted on its own. */
  trashedWith: nullable(bigint),
  /** For items in the trash: the time when they are deleted permanently. */
  expiresAt: nullable(timestamp),
});

/** docs/design/records.md, File. `size`, `checksum` and `blobName` are those of the current version, `versionNumber`. */
export const files = table('files', ['id'], {
  id: filled(bigint),
  uuid,
  name: text,
  path: text,
  extension: nullable(text),
  mimeType: nullable(text),
  size: filled(bigint),
  /** Hex SHA-256. */
  checksum: nullable(text),
  ownerId: bigint,
  folderId: nullable(bigint),
  isDirectory: filled(boolean),
  isEncrypted: filled(boolean),
  storageProvider: filled(text),
  blobContainer: nullable(text),
  blobName: nullable(text),
  versionNumber: filled(integer),
  revision: filled(bigint),
  createdAt: filled(timestamp),
  updatedAt: filled(timestamp),
  deletedAt: nullable(timestamp),
  /** The folder with which it went to the trash; null if it was deleted on its own. */
  trashedWith: nullable(bigint),
  /** For items in the trash: the time when they are deleted permanently. */
  expiresAt: nullable(timestamp),
  /** The name that whoever sent it by a share link typed. */
  uploadedBy: nullable(text),
});

/**
 * docs/design/records.md, Version. Immutable: the tenant's role may change only `createdBy` (a deleted user's versions pass to
 * the system user) and `crc32`.
 */
export const fileVersions = table('file_versions', ['id'], {
  id: filled(bigint),
  fileId: bigint,
  versionNumber: integer,
  size: bigint,
  checksum: text,
  blobName: text,
  comment: nullable(text),
  createdBy: bigint,
  createdAt: filled(timestamp),
});

/**
 * docs/design/records.md, Grant. Exactly one of `userId` and `groupId` is set.
 * `grantedThrough` is the grant that made the granter admin, with which this one ends; null if the granter owns the resource or a
 * folder above it.
 */
export const permissions = table('permissions', ['id'], {
  id: filled(bigint),
  uuid,
  resourceType: oneOf('file', 'folder'),
  resourceId: bigint,
  userId: nullable(bigint),
  groupId: nullable(bigint),
  permissionLevel: oneOf('read', 'write', 'admin'),
  grantedBy: bigint,
  grantedThrough: nullable(bigint),
  grantedAt: filled(timestamp),
  expiresAt: nullable(timestamp),
});

/** docs/design/records.md, Share, tag, metadata. */
export const shares = table('shares', ['id'], {
  id: filled(bigint),
  uuid,
  token: text,
  /** Exactly one of `fileId` and `folderId` is set. */
  fileId: nullable(bigint),
  folderId: nullable(bigint),
  mode: oneOf('download', 'upload', 'both'),
  createdBy: bigint,
  passwordHash: nullable(text),
  expiresAt: nullable(timestamp),
  maxDownloads: nullable(integer),
  downloadCount: filled(integer),
  isActive: filled(boolean),
  createdAt: filled(timestamp),
});

/** docs/design/records.md, Share, tag, metadata. */
export const tags = table('tags', ['id'], {
  id: filled(bigint),
  uuid,
  name: text,
  color: nullable(text),
  ownerId: bigint,
  revision: filled(bigint),
  createdAt: filled(timestamp),
  updatedAt: filled(timestamp),
});
