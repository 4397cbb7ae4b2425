import { PERMISSION_SET_TTL_SECONDS } from '../api/lifetimes.ts';
import { type Actor, LEVELS, type PermissionSet } from '../api/actor.ts';
import type { Clock } from '../runtime/clock.ts';
import { grantsTag, userTag } from './tags.ts';
import { DecodedValues } from '../store/redis/decoded-values.ts';
import type { CacheEntry, CacheLookup, TaggedCache } from '../store/redis/tagged-cache.ts';

/** The source of grants; content implements it. */
export interface GrantSource {
  /**
   * Returns the user's live grants, `<level>:file/<uuid>` and `<level>:folder/<uuid>`, and the time when the first of them ends.
   * One SQL statement.
   */
  grantsOf(userId: number, now: Date): Promise<{ readonly entries: readonly string[]; readonly endsAt: Date | null }>;
  /** Returns the grants that the launch of the user's session adds. One SQL statement. */
  grantsOfLaunch?(launchId: string, userId: number, now: Date): Promise<LaunchGrants>;
}

export interface LaunchGrants {
  /** The entries of `grantsOf`. */
  readonly entries: readonly string[];
  /** True if the next request may get others, so each one asks again. False: the launch grants nothing, now and later. */
  readonly mayChange: boolean;
}

interface CachedSet {
  readonly entries: readonly string[];
  readonly ends_at: string | null;
  /** True if the session's launch grants rights, which are not part of `entries`. */
  readonly of_launch?: boolean;
}

type SetOf = Pick<Actor, 'userUuid'> & { readonly launchId?: string | undefined };

/** Users' permission sets, cached for 1800 s or until the first grant in them ends. A launch's grants are not cached. */
export class PermissionSets {
  readonly #cache: TaggedCache;
  readonly #grants: GrantSource;
  readonly #clock: Clock;
  readonly #sets = new DecodedValues(setIn);

  constructor(deps: { cache: TaggedCache; grants: GrantSource; clock: Clock }) {
    this.#cache = deps.cache;
    this.#grants = deps.grants;
    this.#clock = deps.clock;
  }

  /** A launch's session holds less than its user's others, so it has a set of its own. */
  entry({ userUuid, launchId }: SetOf): CacheEntry {
    const key = launchId === undefined ? `permissions:${userUuid}` : `permissions:${userUuid}:${launchId}`;
    return { key, tags: [userTag(userUuid), grantsTag(userUuid)] };
  }

  /**
   * `found` is the look-up of the actor's entry; without it this makes one. One SQL statement if the set is not cached. A
   * launch's session then costs one more; if its launch grants rights, it costs one each time.
   */
  async load(actor: Omit<Actor, 'permissionSet'>, found?: CacheLookup): Promise<PermissionSet> {
    const lookup = found ?? (await this.#cache.lookup(this.entry(actor)));
    const now = this.#clock.now();
    const cached = lookup.value === undefined ? undefined : this.#sets.of(actor.sessionId, lookup.value);
    if (cached && (cached.endsAt === null || cached.endsAt > now)) {
      if (!cached.isOfLaunch) return cached.set;
      return permissionSet([...cached.set.entries, ...(await this.#launchGrants(actor, now)).entries]);
    }
    const [{ entries: grants, endsAt }, given] = await Promise.all([
      this.#grants.grantsOf(actor.userId, now),
      this.#launchGrants(actor, now),
    ]);
    const entries = [...actor.permissions, ...grants];
    const ttl =
      endsAt === null
        ? PERMISSION_SET_TTL_SECONDS
        : Math.min(PERMISSION_SET_TTL_SECONDS, (endsAt.getTime() - now.getTime()) / 1000);
    const value: CachedSet = { entries, ends_at: endsAt?.toISOString() ?? null, ...(given.mayChange ? { of_launch: true } : {}) };
    await lookup.put(JSON.stringify(value), ttl);
    return permissionSet([...entries, ...given.entries]);
  }

  async #launchGrants({ launchId, userId }: Pick<Actor, 'launchId' | 'userId'>, now: Date): Promise<LaunchGrants> {
    const given = launchId === undefined ? undefined : await this.#grants.grantsOfLaunch?.(launchId, userId, now);
    return given ?? { entries: [], mayChange: false };
  }
}

function setIn(text: string): { readonly set: PermissionSet; readonly endsAt: Date | null; readonly isOfLaunch: boolean } {
  const { entries, ends_at: endsAt, of_launch: isOfLaunch = false } = JSON.parse(text) as CachedSet;
  return { set: permissionSet(entries), endsAt: endsAt === null ? null : new Date(endsAt), isOfLaunch };
}

export function permissionSet(entries: readonly string[]): PermissionSet {
  const set = new Set(entries);
  return {
    entries: set,
    levelOf: (kind, uuid) => LEVELS.findLast((level) => set.has(`${level}:${kind}/${uuid}`)) ?? null,
  };
}
