import type { EventData } from '../../../events/catalogue.ts';
import { jsonOf } from '../../../events/events.ts';
import type { FileRecord } from './files.sql.ts';

/** `data` of file.created, which the other file events extend. */
export const fileCreated = (
  file: Pick<FileRecord, 'uuid' | 'name' | 'size' | 'ownerUuid' | 'createdAt'>,
): EventData<'file.created'> => ({
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

/**
 * The same fields as SQL, for a statement that changes many files (`fileEventRows`). They require rows `f` of the changed files,
 * with `folder_uuid`, and `o` of their owners.
 */
export const createdFields = [
  ['id', jsonOf.text('f.uuid')],
  ['name', jsonOf.text('f.name')],
  ['size', 'f.size'],
  ['owner_id', jsonOf.text('o.uuid')],
  ['created_at', jsonOf.time('f.created_at')],
] as const;

/** `changes`: a JSON array. */
export const updatedFields = (changes: string) =>
  [
    ...createdFields,
    ['folder_id', jsonOf.text('f.folder_uuid')],
    ['path', jsonOf.text('f.path')],
    ['version', 'f.version_number'],
    ['updated_at', jsonOf.time('f.updated_at')],
    ['changes', `'${changes}'`],
  ] as const;

/** `deletedAt`: SQL of the time. */
export const deletedFields = (deletedAt: string, permanent: boolean) =>
  [...createdFields, ['deleted_at', jsonOf.time(deletedAt)], ['permanent', `'${permanent}'`]] as const;
