import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { TaskRequests } from '../../tasks/task-requests.ts';
import type { TaskView } from '../../tasks/tasks.schema.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { Caller } from '../model/access/caller.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { COPY_FOLDER } from './copy-folder-task.ts';
import type { FolderCopy } from '../model/folders/folders.schema.ts';
import { findFolder, type FolderRecord, openFolder } from '../model/folders/folders.sql.ts';
import { folderSeenBy } from '../model/folders/folders.view.ts';
import { makeFolder } from '../model/folders/new-folder.ts';

/**
 * Copies folders. The request creates the copy itself and decides its name; a job then copies the content
 * (copy-folder.processor.ts).
 */
export class FolderCopies {
  readonly #transactions: AuthorizedTransactions;
  readonly #tasks: TaskRequests;
  readonly #random: Random;

  constructor(deps: { db: Database; cache: TaggedCache; tasks: TaskRequests; random: Random }) {
    this.#transactions = authorizedTransactions(deps);
    this.#tasks = deps.tasks;
    this.#random = deps.random;
  }

  /**
   * Requires read access to the folder and write access to the destination. Nine statements, eight into the root. Throws
   * `not_found`, `forbidden`, `name_conflict`, `conflict` (into itself or below, too many jobs), `validation_failed` (too deep,
   * too long a path).
   */
  async copy(actor: Actor, id: Uuid, input: FolderCopy): Promise<TaskView> {
    return this.#transactions.run(actor, async (tx, caller) => {
      const { source, folder } = await makeCopy(tx, { caller, random: this.#random }, id, input);
      return this.#tasks.request(tx, COPY_FOLDER, actor.userId, {
        arguments: {
          source: source.uuid,
          copy: folder.uuid,
          subject: { type: 'folder', id: source.uuid, name: source.name },
          permissions: [...actor.permissions],
        },
        result: { folder_id: folder.uuid },
      });
    });
  }

  /** Creates the empty copy with this uuid, without a job that fills it. Throws what `copy` throws. */
  async make(actor: Actor, id: Uuid, input: FolderCopy, uuid: Uuid): Promise<FolderRecord> {
    const random = { uuid: () => uuid };
    return this.#transactions.run(actor, async (tx, caller) => (await makeCopy(tx, { caller, random }, id, input)).folder);
  }
}

/** Creates the empty folder of a copy. Throws what `FolderCopies.copy` throws, except for the limit of jobs. */
async function makeCopy(
  tx: Tx,
  { caller, random }: { readonly caller: Caller; readonly random: Pick<Random, 'uuid'> },
  id: Uuid,
  input: FolderCopy,
): Promise<{ readonly source: FolderRecord; readonly folder: FolderRecord }> {
  const source = await readableFolder(tx, caller, id);
  const parentId = input.parent_id === undefined ? folderSeenBy(caller, source).parentUuid : input.parent_id;
  const parent = parentId === null ? null : await openFolder(tx, caller, parentId, 'parent_id');
  requireOutside(source, parent);
  const { folder } = await makeFolder(tx, { caller, random }, parent, {
    name: input.name ?? source.name,
    on_conflict: input.on_conflict,
  });
  return { source, folder };
}

/** Throws `not_found`. */
async function readableFolder(tx: Tx, caller: Caller, id: Uuid): Promise<FolderRecord> {
  const source = await findFolder(tx, id);
  requireLevel(source && levelOn('folder', caller, source), 'read');
  if (!source) throw new Problem('not_found');
  return source;
}

/** Throws `conflict`. */
export function requireOutside(source: Pick<FolderRecord, 'uuid'>, parent: Pick<FolderRecord, 'ancestors'> | null): void {
  if (parent?.ancestors.some(({ uuid }) => uuid === source.uuid))
    throw new Problem('conflict', 'A folder cannot be copied into itself, nor into a folder below it.');
}
