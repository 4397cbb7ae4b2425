import { createHash } from 'node:crypto';
import { type Endpoint, REPLY_TTL_SECONDS, type Reply, type ReplyHeaders } from '../api/endpoint.ts';
import type { AccessClaims } from '../identity/tokens.ts';
import { type CacheEntry, type CacheLookup, subject } from '../store/redis/generation.ts';

/**
 * Kept replies (specification: Cached data, API response): a GET's JSON by user, endpoint and a hash of its parameters.
 *
 * Invariants:
 * - A kept reply is shown only to the user it was made for, and only after that user's session was checked; one made for a launch's session
 *   to sessions of that launch alone, since they hold less.
 * - It dies with any subject that its endpoint says it rests on, with a change of the user's roles, at `cacheUntil`, and after 300 s.
 */
interface Kept {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: unknown;
}

export function replyEntry(endpoint: Endpoint, claims: AccessClaims, url: string): CacheEntry | undefined {
  if (!endpoint.cached) return undefined;
  const parameters = createHash('sha256').update(url).digest('base64url');
  return {
    key: `reply:${claims.userUuid}:${claims.launchId ?? '-'}:${endpoint.path}:${parameters}`,
    restsOn: [subject.user(claims.userUuid), subject.grants(claims.userUuid), ...endpoint.cached.restsOn],
  };
}

export function keptReply(lookup: CacheLookup): Reply | undefined {
  return lookup.value === undefined ? undefined : (JSON.parse(lookup.value) as Kept);
}

export async function keepReply(lookup: CacheLookup, reply: Reply, now: Date): Promise<void> {
  if (reply.status !== 200) return;
  const bound = reply.cacheUntil === undefined ? REPLY_TTL_SECONDS : (reply.cacheUntil.getTime() - now.getTime()) / 1000;
  const kept: Kept = { status: reply.status, headers: reply.headers ?? {}, body: reply.body };
  await lookup.keep(JSON.stringify(kept), Math.min(REPLY_TTL_SECONDS, bound));
}
