import { createHash } from 'node:crypto';
import { REPLY_TTL_SECONDS } from '../api/lifetimes.ts';
import type { Endpoint, Reply, ReplyHeaders } from '../api/endpoint.ts';
import type { AccessClaims } from '../access/tokens.ts';
import { grantsTag, userTag } from '../access/tags.ts';
import type { CacheEntry, CacheLookup } from '../store/redis/tagged-cache.ts';

/**
 * Cached replies: a GET's JSON by user, endpoint and a hash of its parameters (docs/design/api-conventions.md, Caches).
 *
 * Invariants:
 * - A cached reply is shown only to the user for whom it was made, and only after that user's session was checked. A reply for a
 *   launch's session is shown only to sessions of that launch, since they hold less.
 * - It ends when a tag of its endpoint is invalidated, when the user's roles or grants change, at `cacheUntil`, and after 300 s.
 */
interface CachedReply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: unknown;
}

export function replyEntry(endpoint: Endpoint, claims: AccessClaims, url: string): CacheEntry | undefined {
  if (!endpoint.cached) return undefined;
  const parameters = createHash('sha256').update(url).digest('base64url');
  return {
    key: `reply:${claims.userUuid}:${claims.launchId ?? '-'}:${endpoint.path}:${parameters}`,
    tags: [userTag(claims.userUuid), grantsTag(claims.userUuid), ...endpoint.cached.tags],
  };
}

export function cachedReply(lookup: CacheLookup): Reply | undefined {
  return lookup.value === undefined ? undefined : (JSON.parse(lookup.value) as CachedReply);
}

export async function cacheReply(lookup: CacheLookup, reply: Reply, now: Date): Promise<void> {
  if (reply.status !== 200) return;
  const bound = reply.cacheUntil === undefined ? REPLY_TTL_SECONDS : (reply.cacheUntil.getTime() - now.getTime()) / 1000;
  const cached: CachedReply = { status: reply.status, headers: reply.headers ?? {}, body: reply.body };
  await lookup.put(JSON.stringify(cached), Math.min(REPLY_TTL_SECONDS, bound));
}
