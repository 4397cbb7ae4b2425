import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { TaskRequests } from '../../tasks/task-requests.ts';
import type { TaskView } from '../../tasks/tasks.schema.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { nameItems } from '../batch/batch.sql.ts';
import type { Content } from '../downloads/download-headers.ts';
import { findFolder } from '../model/folders/folders.sql.ts';
import { EXPIRE_EXPORTS, EXPORT } from './export-task.ts';
import type { NewExport } from './exports.schema.ts';
import { countExports, findExport } from './exports.sql.ts';
import { expireOfUser } from './kept-exports.sql.ts';

/** The exports that one person may have: those being made, and those whose links are valid. */
export const EXPORTS_OF_PERSON = 10;

/** Requests exports, which make-export.processor.ts makes, and finds what their links open. */
export class Exports {
  readonly #db: Database;
  readonly #transactions: AuthorizedTransactions;
  readonly #tasks: TaskRequests;
  readonly #jobs: JobRequests;
  readonly #clock: Clock;
  readonly #apiUrl: string;

  constructor(deps: { db: Database; cache: TaggedCache; tasks: TaskRequests; jobs: JobRequests; clock: Clock; apiUrl: string }) {
    this.#db = deps.db;
    this.#transactions = authorizedTransactions(deps);
    this.#tasks = deps.tasks;
    this.#jobs = deps.jobs;
    this.#clock = deps.clock;
    this.#apiUrl = deps.apiUrl;
  }

  /**
   * Takes eight statements. Throws `not_found` for a folder that the actor may not read, and `conflict` if they have too many
   * exports or jobs.
   */
  async request(actor: Actor, { folder_id: folderId, items, name }: NewExport): Promise<TaskView> {
    return this.#transactions.run(actor, async (tx, caller) => {
      if (folderId !== undefined) {
        const folder = await findFolder(tx, folderId);
        requireLevel(folder?.deletedAt === null ? levelOn('folder', caller, folder) : null, 'read');
      }
      const task = await this.#tasks.request(tx, EXPORT, actor.userId, {
        arguments: { permissions: [...actor.permissions], apiUrl: this.#apiUrl, ...(name === undefined ? {} : { name }) },
      });
      if ((await countExports(tx, actor.userId, this.#clock.now())) > EXPORTS_OF_PERSON)
        throw new Problem('conflict', `You have ${EXPORTS_OF_PERSON} exports; wait until the oldest has expired.`);
      const total = await nameItems(tx, task.id, items ?? [{ type: 'folder', id: folderId ?? '' }]);
      return { ...task, progress: { ...task.progress, total } };
    });
  }

  /** The links of a person end with the account, so their archives go. */
  async removeOf(tx: Tx, userId: number): Promise<void> {
    if (await expireOfUser(tx, userId, this.#clock.now())) await this.#jobs.request(tx, EXPIRE_EXPORTS, {});
  }

  /** Returns the content that a link opens and its user; null: the link opens nothing, or no longer. */
  find(token: string): Promise<(Content & { readonly user: string }) | null> {
    return findExport(this.#db, token, this.#clock.now());
  }
}
