import type { EventData } from '../../events/catalogue.ts';
import type { FileRecord } from './files.sql.ts';

/** `data` of file.created, which the other file events extend. */
export const fileCreated = (file: Pick<FileRecord, 'uuid' | 'name' | 'size' | 'ownerUuid' | 'createdAt'>): EventData<'file.created'> => ({
  id: file.uuid,
  name: file.name,
  size: file.size,
  owner_id: file.ownerUuid,
  created_at: file.createdAt,
});

/** `data` of file.updated: the file as it is after `changes`. */
export const fileUpdated = (file: FileRecord, changes: EventData<'file.updated'>['changes']): EventData<'file.updated'> => ({
  ...fileCreated(file),
  folder_id: file.folder?.uuid ?? null,
  path: file.path,
  version: file.version,
  updated_at: file.updatedAt,
  changes,
});
