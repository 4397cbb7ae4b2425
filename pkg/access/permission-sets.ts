import { PERMISSION_SET_TTL_SECONDS } from '../api/lifetimes.ts';
import { type Actor, LEVELS, type PermissionSet } from '../api/actor.ts';
import type { Clock } from '../runtime/clock.ts';
import { grantsTag, userTag } from './tags.ts';
import { DecodedValues } from '../store/redis/decoded-values.ts';
import type { CacheEntry, CacheLookup, TaggedCache } from '../store/redis/tagged-cache.ts';

/** Where grants come from; content implements it. */
export interface GrantSource {
  /** The user's live grants, `<level>:file/<uuid>` and `<level>:folder/<uuid>`, and when the soonest of them ends. One SQL statement. */
  grantsOf(userId: number, now: Date): Promise<{ readonly entries: readonly string[]; readonly endsAt: Date | null }>;
}

interface CachedSet {
  readonly entries: readonly string[];
  readonly ends_at: string | null;
}

type SetOf = Pick<Actor, 'userUuid'> & { readonly launchId?: string | undefined };

/** Users' permission sets, cached for 1800 s or until the soonest grant in them ends. */
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

  /** `found`: the look-up of the actor's entry; without it this makes one. One SQL statement when the set is not cached. */
  async load(actor: Omit<Actor, 'permissionSet'>, found?: CacheLookup): Promise<PermissionSet> {
    const lookup = found ?? (await this.#cache.lookup(this.entry(actor)));
    const now = this.#clock.now();
    const cached = lookup.value === undefined ? undefined : this.#sets.of(actor.sessionId, lookup.value);
    if (cached && (cached.endsAt === null || cached.endsAt > now)) return cached.set;
    const { entries: grants, endsAt } = await this.#grants.grantsOf(actor.userId, now);
    const entries = [...actor.permissions, ...grants];
    const ttl =
      endsAt === null ? PERMISSION_SET_TTL_SECONDS : Math.min(PERMISSION_SET_TTL_SECONDS, (endsAt.getTime() - now.getTime()) / 1000);
    await lookup.put(JSON.stringify({ entries, ends_at: endsAt?.toISOString() ?? null }), ttl);
    return permissionSet(entries);
  }
}

function setIn(text: string): { readonly set: PermissionSet; readonly endsAt: Date | null } {
  const { entries, ends_at: endsAt } = JSON.parse(text) as CachedSet;
  return { set: permissionSet(entries), endsAt: endsAt === null ? null : new Date(endsAt) };
}

export function permissionSet(entries: readonly string[]): PermissionSet {
  const set = new Set(entries);
  return {
    entries: set,
    levelOf: (kind, uuid) => LEVELS.findLast((level) => set.has(`${level}:${kind}/${uuid}`)) ?? null,
  };
}
