import type { Database, Tx } from '../postgres/database.ts';
import { type CacheEntry, type CacheLookup, NO_CACHE, TaggedCache } from './tagged-cache.ts';

/**
 * The cache for a service within a transaction (`Database.within`) that has changed what the service reads. It finds nothing and
 * puts nothing, since what the transaction has changed is nobody else's yet; what is invalidated is invalid at its commit.
 */
export class UncommittedCache extends TaggedCache {
  readonly #cache: TaggedCache;

  constructor(cache: TaggedCache, deps: ConstructorParameters<typeof TaggedCache>[0]) {
    super(deps);
    this.#cache = cache;
  }

  override transaction<T>(db: Database, fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#cache.transaction(db, fn);
  }

  override invalidate(tx: Tx, ...tags: readonly string[]): void {
    this.#cache.invalidate(tx, ...tags);
  }

  override async lookups(entries: readonly CacheEntry[]): Promise<CacheLookup[]> {
    return entries.map(() => NO_CACHE);
  }
}
