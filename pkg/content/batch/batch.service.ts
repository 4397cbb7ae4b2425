import type { Passwords } from '../../accounts/passwords.ts';
import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { TenantSettings } from '../../feature/services.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { TaskRequests } from '../../tasks/task-requests.ts';
import type { TaskView } from '../../tasks/tasks.schema.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import type { FileLists } from '../lists/file-lists.service.ts';
import { storedValue } from '../metadata/metadata.policy.ts';
import type { NewShare } from '../sharing/shares.schema.ts';
import type { HashedShare } from '../sharing/shares.service.ts';
import type { Search } from '../search/search.service.ts';
import { BATCH, batchTask } from './batch-task.ts';
import type { BatchRequest } from './batch.schema.ts';
import { nameItems } from './batch.sql.ts';
import { filterPage, type ListsOfFilter } from './filter.ts';
import { OPERATIONS } from './operations.ts';

/** Requests batches, which batch.processor.ts runs. */
export class Batches {
  readonly #transactions: AuthorizedTransactions;
  readonly #tasks: TaskRequests;
  readonly #lists: ListsOfFilter;
  readonly #settings: Pick<TenantSettings, 'trashRetentionMs'>;
  readonly #passwords: () => Passwords;
  readonly #appUrl: string;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    tasks: TaskRequests;
    fileLists: FileLists;
    search: Search;
    settings: Pick<TenantSettings, 'trashRetentionMs'>;
    passwords: () => Passwords;
    appUrl: string;
  }) {
    this.#transactions = authorizedTransactions(deps);
    this.#tasks = deps.tasks;
    this.#lists = { files: deps.fileLists, search: deps.search };
    this.#settings = deps.settings;
    this.#passwords = deps.passwords;
    this.#appUrl = deps.appUrl;
  }

  /**
   * Takes six statements, and with a filter those of one page. Throws `forbidden` for what the actor's roles never allow,
   * `not_found` for a folder of a filter, `value_type_mismatch`, `validation_failed`, `conflict` for too many jobs.
   */
  async request(actor: Actor, request: BatchRequest): Promise<TaskView> {
    const { operation, items, filter } = request;
    const permissions = Object.values(OPERATIONS[operation].permissions);
    if (!permissions.some((permission) => actor.permissions.has(permission)))
      throw new Problem('forbidden', `Requires the permission ${permissions[0]}.`);
    if (request.operation === 'set_metadata') storedValue(request.arguments);
    if (filter) await filterPage(this.#lists, actor, filter, { limit: 1 });
    const given = request.operation === 'share' ? await this.#hashed(request.arguments) : { ...request.arguments };
    return this.#transactions.run(actor, async (tx) => {
      const of = { permissions: [...actor.permissions], trashRetentionMs: this.#settings.trashRetentionMs, appUrl: this.#appUrl };
      const task = await this.#tasks.request(tx, BATCH, actor.userId, batchTask(request, given, of));
      if (!items) return task;
      const total = await nameItems(tx, task.id, items);
      return { ...task, progress: { ...task.progress, total } };
    });
  }

  /** Replaces a password by its hash, because passwords are never stored. */
  async #hashed({ password, ...share }: NewShare = {}): Promise<HashedShare> {
    return { ...share, passwordHash: password === undefined ? null : await this.#passwords().hash(password) };
  }
}
