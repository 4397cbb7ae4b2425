import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { TaskRequests } from '../../tasks/task-requests.ts';
import type { TaskView } from '../../tasks/tasks.schema.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../access/authorized-transactions.ts';
import { levelOn, requireLevel } from '../access/inherited-access.policy.ts';
import { COPY_FOLDER } from './copy-folder-task.ts';
import type { FolderCopy } from './folders.schema.ts';
import { findFolder, openFolder } from './folders.sql.ts';
import { folderSeenBy } from './folders.view.ts';
import { makeFolder } from './new-folder.ts';

/** Copies of folders: the copy itself is made with the request, which decides its name, and a job copies what is in it (copy-folder.processor.ts). */
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
   * Needs read on the folder and write on the one that the copy is in. Nine statements, eight into the root. Throws `not_found`, `forbidden`, `name_conflict`,
   * `conflict` (into itself or below, too many jobs), `validation_failed` (too deep, too long a path).
   */
  async copy(actor: Actor, id: Uuid, input: FolderCopy): Promise<TaskView> {
    return this.#transactions.run(actor, async (tx, granted) => {
      const source = await findFolder(tx, id);
      requireLevel(source && levelOn('folder', actor, source, granted), 'read');
      if (!source) throw new Problem('not_found');
      const parentId = input.parent_id === undefined ? folderSeenBy(actor, granted, source).parentUuid : input.parent_id;
      const parent = parentId === null ? null : await openFolder(tx, actor, granted, parentId, 'parent_id');
      if (parent?.ancestors.some(({ uuid }) => uuid === source.uuid))
        throw new Problem('conflict', 'A folder cannot be copied into itself, nor into a folder below it.');
      const wanted = { name: input.name ?? source.name, on_conflict: input.on_conflict };
      const { folder } = await makeFolder(tx, { actor, granted, random: this.#random }, parent, wanted);
      return this.#tasks.request(tx, COPY_FOLDER, actor.userId, {
        arguments: { source: source.uuid, copy: folder.uuid },
        result: { folder_id: folder.uuid },
      });
    });
  }
}
