import type { Actor, Permission } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { TaskItem } from '../../tasks/task-steps.sql.ts';
import type { BatchOperation } from '../../tasks/tasks.schema.ts';
import type { FileMoves } from '../files/file-moves.service.ts';
import type { FileTrash } from '../files/file-trash.service.ts';
import type { Files, SetResult } from '../model/files/files.service.ts';
import type { FileSets } from './file-sets.service.ts';
import type { FolderCopies } from '../folders/folder-copies.service.ts';
import type { FolderTrash } from '../folders/folder-trash.service.ts';
import type { FolderRecord } from '../model/folders/folders.sql.ts';
import type { Folders } from '../folders/folders.service.ts';
import type { Grants } from '../sharing/grants.service.ts';
import type { Json } from '../../store/postgres/job-store.ts';
import type { HashedShare, Shares } from '../sharing/shares.service.ts';
import type { ShareView } from '../sharing/shares.schema.ts';
import type { Metadata } from '../metadata/metadata.service.ts';
import { alternativeName, NAME_ATTEMPTS } from '../model/names/alternative-names.policy.ts';
import type { Tags } from '../tags/tags.service.ts';
import type { ArgumentsOf } from './batch.schema.ts';

/** The services that serve the endpoints of single files and folders. */
export interface BatchServices {
  readonly files: Files;
  readonly fileMoves: FileMoves;
  readonly fileTrash: FileTrash;
  readonly sets: FileSets;
  readonly folders: Folders;
  readonly folderTrash: FolderTrash;
  readonly folderCopies: FolderCopies;
  readonly tags: Tags;
  readonly metadata: Metadata;
  readonly grants: Grants;
  readonly shares: Shares;
}

/** The arguments of a share have the password that the server hashed. */
type Given<Name extends BatchOperation> = Name extends 'share' ? HashedShare : ArgumentsOf<Name>;
type Does<Name extends BatchOperation> = (
  services: BatchServices,
  actor: Actor,
  id: string,
  given: Given<Name>,
  item: Pick<TaskItem, 'copy' | 'copyIn'>,
) => Promise<unknown>;

/** An operation on a file, and on a folder if it supports folders. It does the same as the endpoint for a single one. */
export interface Operation<Name extends BatchOperation = BatchOperation> {
  /** The permissions that the endpoints require. An operation without `folder` supports only files. */
  readonly permissions: { readonly file: Permission; readonly folder?: Permission };
  /**
   * `first`: folders go first, the highest before those below. `last`: folders go last. Items below a folder that is finished are
   * skipped.
   */
  readonly folders?: 'first' | 'last';
  /** Which bytes of an item the task counts: none, live ones, or also those in the trash. */
  readonly counts?: 'live' | 'any';
  /**
   * The operation makes copies: items below a folder become items too, and contents are copied between two steps
   * (copy-items.ts).
   */
  readonly copies?: boolean;
  /** The operation may change what the requester may do next: their rights are read again before each item. */
  readonly changesRights?: boolean;
  /** Makes an item's result from what the service returns. */
  readonly resultOf?: (given: unknown) => Json;
  /** Does what `file` does with all files of a step in a few statements. If it throws, each file is tried by itself. */
  readonly files?: (services: BatchServices, actor: Actor, ids: readonly string[], given: Given<Name>) => Promise<SetResult>;
  /** Left out: another file does it. */
  readonly file?: Does<Name>;
  readonly folder?: Does<Name>;
}

const SHARES = { file: 'share:files', folder: 'share:files' } as const;
const WRITES = { file: 'write:files', folder: 'write:folders' } as const;

export const OPERATIONS: { readonly [Name in BatchOperation]: Operation<Name> } = {
  delete: {
    permissions: WRITES,
    folders: 'first',
    counts: 'live',
    files: async ({ fileTrash }, actor, ids) => ({ refused: await fileTrash.trashAll(actor, ids) }),
    file: ({ fileTrash }, actor, id) => fileTrash.trash(actor, id, undefined),
    folder: ({ folderTrash }, actor, id) => folderTrash.trash(actor, id, undefined),
  },
  purge: {
    permissions: WRITES,
    folders: 'last',
    counts: 'any',
    files: ({ sets }, actor, ids) => sets.purge(actor, ids),
    file: ({ fileTrash }, actor, id) => fileTrash.purge(actor, id, undefined),
    folder: ({ folderTrash }, actor, id) => folderTrash.purge(actor, id, undefined),
  },
  restore: {
    permissions: WRITES,
    folders: 'first',
    files: ({ sets }, actor, ids) => sets.restore(actor, ids),
    file: ({ fileTrash }, actor, id) => fileTrash.restore(actor, id, { on_conflict: 'fail' }, undefined),
    folder: ({ folderTrash }, actor, id) => folderTrash.restore(actor, id, { on_conflict: 'fail' }, undefined),
  },
  move: {
    permissions: WRITES,
    folders: 'first',
    files: ({ sets }, actor, ids, { folder_id }) => sets.move(actor, ids, folder_id),
    file: ({ files, fileMoves }, actor, id, { folder_id, on_conflict }) =>
      orRenamed(
        on_conflict,
        (name) => fileMoves.change(actor, id, { folder_id, ...name }, undefined),
        async () => (await files.read(actor, id)).name,
      ),
    folder: ({ folders }, actor, id, { folder_id: parent_id, on_conflict }) =>
      orRenamed(
        on_conflict,
        (name) => folders.change(actor, id, { parent_id, ...name }, undefined),
        async () => (await folders.read(actor, id)).name,
      ),
  },
  copy: {
    permissions: WRITES,
    copies: true,
    folder: ({ folderCopies }, actor, id, { folder_id, on_conflict }, { copy, copyIn }) =>
      folderCopies.make(
        actor,
        id,
        copyIn === null ? { parent_id: folder_id, on_conflict } : { parent_id: copyIn, on_conflict: 'fail' },
        required(copy),
      ),
    resultOf: (folder) => ({ copy_id: (folder as FolderRecord).uuid }),
  },
  tag: {
    permissions: { file: 'read:files' },
    files: async ({ tags }, actor, ids, { tag_id }) => ({ refused: await tags.linkAll(actor, ids, tag_id) }),
    file: ({ tags }, actor, id, { tag_id }) => tags.link(actor, id, tag_id),
  },
  untag: {
    permissions: { file: 'read:files' },
    files: async ({ tags }, actor, ids, { tag_id }) => ({ refused: await tags.unlinkAll(actor, ids, tag_id) }),
    file: ({ tags }, actor, id, { tag_id }) => tags.unlink(actor, id, tag_id),
  },
  set_metadata: {
    permissions: { file: 'write:files' },
    files: ({ metadata }, actor, ids, { key, ...value }) => metadata.putAll(actor, ids, key, value),
    file: ({ metadata }, actor, id, { key, ...value }) => metadata.put(actor, id, key, value, undefined),
  },
  remove_metadata: {
    permissions: { file: 'write:files' },
    files: ({ metadata }, actor, ids, { key }) => metadata.removeAll(actor, ids, key),
    file: ({ metadata }, actor, id, { key }) => metadata.remove(actor, id, key, undefined),
  },
  grant: {
    permissions: SHARES,
    changesRights: true,
    file: ({ grants }, actor, uuid, given) => grants.grant(actor, { kind: 'file', uuid }, given),
    folder: ({ grants }, actor, uuid, given) => grants.grant(actor, { kind: 'folder', uuid }, given),
  },
  revoke: {
    permissions: SHARES,
    changesRights: true,
    file: ({ grants }, actor, uuid, given) => grants.revokeOf(actor, { kind: 'file', uuid }, given),
    folder: ({ grants }, actor, uuid, given) => grants.revokeOf(actor, { kind: 'folder', uuid }, given),
  },
  share: {
    permissions: { file: 'share:files' },
    file: ({ shares }, actor, uuid, given) => shares.createHashed(actor, { kind: 'file', uuid }, given),
    resultOf: (share) => {
      const { id, url } = share as ShareView;
      return { share_id: id, url };
    },
  },
};

/** Returns the copy that was planned with the item. */
function required(copy: string | null): string {
  if (copy === null) throw new TypeError('the copy of a folder has no uuid');
  return copy;
}

/** Calls `change`; with `rename`, calls it again with other names while the present one is taken. Throws what `change` throws. */
async function orRenamed(
  onConflict: 'fail' | 'rename',
  change: (name: { name?: string }) => Promise<unknown>,
  nameOf: () => Promise<string>,
): Promise<void> {
  let name: string | undefined;
  for (let attempt = 0; ; attempt += 1) {
    try {
      await change(name === undefined ? {} : { name: alternativeName(name, attempt) });
      return;
    } catch (error) {
      const isTaken = error instanceof Problem && error.code === 'name_conflict';
      if (!isTaken || onConflict === 'fail' || attempt === NAME_ATTEMPTS) throw error;
      name ??= await nameOf();
    }
  }
}
