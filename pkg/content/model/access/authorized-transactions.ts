import type { Actor } from '../../../api/actor.ts';
import { Problem } from '../../../api/problem.ts';
import type { Database, Tx } from '../../../store/postgres/database.ts';
import { ForeignKeyViolation } from '../../../store/postgres/errors.ts';
import type { TaggedCache } from '../../../store/redis/tagged-cache.ts';
import type { Caller } from './caller.ts';

/** Transactions in which an actor changes something that they have a right to. */
export interface AuthorizedTransactions {
  /**
   * Runs `fn` in a transaction of TaggedCache. The actor's permissions are loaded before the transaction opens:
   * a transaction that waited for a second connection would hold up all others when the pool is used up.
   * A row that it refers to may be deleted meanwhile: then it is decided again; if the actor was deleted, it throws
   * `unauthenticated`.
   */
  run<T>(actor: Actor, fn: (tx: Tx, caller: Caller) => Promise<T>): Promise<T>;
}

export const authorizedTransactions = (deps: { db: Database; cache: TaggedCache }): AuthorizedTransactions => ({
  async run(actor, fn) {
    const caller = { actor, granted: await actor.permissionSet() };
    const attempt = (): ReturnType<typeof fn> => deps.cache.transaction(deps.db, (tx) => fn(tx, caller));
    try {
      return await attempt().catch((error: unknown) =>
        error instanceof ForeignKeyViolation ? attempt() : Promise.reject(error as Error),
      );
    } catch (error) {
      throw error instanceof ForeignKeyViolation ? new Problem('unauthenticated', undefined, { cause: error }) : error;
    }
  },
});
