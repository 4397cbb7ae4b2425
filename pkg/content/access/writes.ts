import type { Actor } from '../../api/actor.ts';
import type { PermissionSet, PermissionSets } from '../../identity/permission-sets.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { GenerationCache } from '../../store/redis/generation.ts';

/** Transactions of an actor's. */
export interface Writes {
  /**
   * Runs `fn` in a transaction whose touched subjects the cache renews. What the actor may do is known before it opens:
   * a transaction that waited for a second connection would hold up all others when the pool is used up.
   */
  run<T>(actor: Actor, fn: (tx: Tx, granted: PermissionSet) => Promise<T>): Promise<T>;
}

export const writesOf = (deps: { db: Database; cache: GenerationCache; permissionSets: PermissionSets }): Writes => ({
  async run(actor, fn) {
    const granted = await deps.permissionSets.of(actor);
    return deps.cache.transaction(deps.db, (tx) => fn(tx, granted));
  },
});
