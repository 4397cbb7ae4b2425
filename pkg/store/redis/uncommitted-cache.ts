import type { Database, Tx } from '../postgres/database.ts';
import { type CacheEntry, type CacheLookup, NO_CACHE, TaggedCache } from './tagged-cache.ts';

/**
 * The cache for a service within a transaction (`Database.within`) that has changed the service's data. It finds nothing and
 * stores nothing, since nobody else may see the transaction's changes yet. Invalidations take effect at its commit.
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
