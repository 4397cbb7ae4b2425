import { type Actor, type Level, LEVELS } from '../api/actor.ts';
import type { Clock } from '../runtime/clock.ts';
import { type CacheEntry, type CacheLookup, type GenerationCache, subject } from '../store/redis/generation.ts';

/** specification: Cached data, User permissions. */
export const PERMISSION_SET_TTL_SECONDS = 1800;

/** Where grants come from; content implements it. */
export interface GrantSource {
  /** The user's live grants, `<level>:file/<uuid>` and `<level>:folder/<uuid>`, and when the soonest of them ends. One SQL statement. */
  grantsOf(userId: number, now: Date): Promise<{ readonly entries: readonly string[]; readonly endsAt: Date | null }>;
}

/** All that a user may do: `<action>:<resource>` by roles, `<level>:file/<uuid>` and `<level>:folder/<uuid>` by grants. */
export interface PermissionSet {
  readonly entries: ReadonlySet<string>;
  /** The highest level granted on that very resource; what folders above give is the policy's to add. */
  levelOf(kind: 'file' | 'folder', uuid: string): Level | null;
}

interface Kept {
  readonly entries: readonly string[];
  readonly ends_at: string | null;
}

/**
 * Users' permission sets, kept 1800 s or until the soonest grant in them ends.
 * A request's set is looked up in its first round trip (`prefetched`), and loaded at most once.
 */
export class PermissionSets {
  readonly #cache: GenerationCache;
  readonly #grants: GrantSource;
  readonly #clock: Clock;
  readonly #lookups = new WeakMap<Actor, CacheLookup>();
  readonly #sets = new WeakMap<Actor, Promise<PermissionSet>>();

  constructor(deps: { cache: GenerationCache; grants: GrantSource; clock: Clock }) {
    this.#cache = deps.cache;
    this.#grants = deps.grants;
    this.#clock = deps.clock;
  }

  /** A launch's session holds less than its user's others, so it has a set of its own. */
  entry({ userUuid, launchId }: Pick<Actor, 'userUuid'> & { readonly launchId?: string | undefined }): CacheEntry {
    const key = launchId === undefined ? `permissions:${userUuid}` : `permissions:${userUuid}:${launchId}`;
    return { key, restsOn: [subject.user(userUuid), subject.grants(userUuid)] };
  }

  prefetched(actor: Actor, lookup: CacheLookup): void {
    this.#lookups.set(actor, lookup);
  }

  /** No round trip when warm and prefetched; one SQL statement when cold. */
  of(actor: Actor): Promise<PermissionSet> {
    const known = this.#sets.get(actor);
    if (known) return known;
    const set = this.#load(actor);
    this.#sets.set(actor, set);
    return set;
  }

  async #load(actor: Actor): Promise<PermissionSet> {
    const lookup = this.#lookups.get(actor) ?? (await this.#cache.lookup(this.entry(actor)));
    const now = this.#clock.now();
    if (lookup.value !== undefined) {
      const kept = JSON.parse(lookup.value) as Kept;
      if (kept.ends_at === null || new Date(kept.ends_at) > now) return permissionSet(kept.entries);
    }
    const { entries: grants, endsAt } = await this.#grants.grantsOf(actor.userId, now);
    const entries = [...actor.permissions, ...grants];
    const ttl =
      endsAt === null ? PERMISSION_SET_TTL_SECONDS : Math.min(PERMISSION_SET_TTL_SECONDS, (endsAt.getTime() - now.getTime()) / 1000);
    await lookup.keep(JSON.stringify({ entries, ends_at: endsAt?.toISOString() ?? null }), ttl);
    return permissionSet(entries);
  }
}

export function permissionSet(entries: readonly string[]): PermissionSet {
  const set = new Set(entries);
  return {
    entries: set,
    levelOf: (kind, uuid) => LEVELS.findLast((level) => set.has(`${level}:${kind}/${uuid}`)) ?? null,
  };
}
