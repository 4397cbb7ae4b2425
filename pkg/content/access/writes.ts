import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { PermissionSet, PermissionSets } from '../../identity/permission-sets.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import { ForeignKeyViolation } from '../../store/postgres/errors.ts';
import type { GenerationCache } from '../../store/redis/generation.ts';

/** Transactions of an actor's. */
export interface Writes {
  /**
   * Runs `fn` in a transaction whose touched subjects the cache renews. What the actor may do is known before it opens:
   * a transaction that waited for a second connection would hold up all others when the pool is used up.
   * Who or what it refers to may be deleted meanwhile: then it is decided anew, and by then it is the actor who is gone, if anyone (`unauthenticated`).
   */
  run<T>(actor: Actor, fn: (tx: Tx, granted: PermissionSet) => Promise<T>): Promise<T>;
}

export const writesOf = (deps: { db: Database; cache: GenerationCache; permissionSets: PermissionSets }): Writes => ({
  async run(actor, fn) {
    const granted = await deps.permissionSets.of(actor);
    const attempt = (): ReturnType<typeof fn> => deps.cache.transaction(deps.db, (tx) => fn(tx, granted));
    try {
      return await attempt().catch((error: unknown) => (error instanceof ForeignKeyViolation ? attempt() : Promise.reject(error as Error)));
    } catch (error) {
      throw error instanceof ForeignKeyViolation ? new Problem('unauthenticated', undefined, { cause: error }) : error;
    }
  },
});
