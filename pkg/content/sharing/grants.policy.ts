import type { Actor } from '../../api/actor.ts';
import { invalid, Problem } from '../../api/problem.ts';
import { type AccessSubject, isOwnedBy, levelOn, type Resource, requireLevel } from '../model/access/inherited-access.policy.ts';

/*
 * Who may share a file or folder, and for how long (docs/design/api-conventions.md, Permissions).
 */

/** Only an admin of a file or folder sees, gives and revokes grants on it. Throws `not_found`, `forbidden`. */
export const requireSharing = (caller: AccessSubject, resource: Resource & { readonly kind: 'file' | 'folder' }): void =>
  requireLevel(levelOn(resource.kind, caller, resource), 'admin');

/** An admin by a grant does not change that grant; an owner is bound by no grant. Throws `forbidden`. */
export function requireNotOwnGrant(
  actor: Pick<Actor, 'userId' | 'userUuid'>,
  resource: Resource,
  granteeUuid: string | undefined,
): void {
  if (granteeUuid === actor.userUuid && !isOwnedBy(resource, actor))
    throw new Problem('forbidden', 'You cannot change your own grant; the user who gave it can.');
}

/**
 * When a grant ends whose giver is admin by the grant `source`: not later than that one. Null source: the giver owns the
 * resource. Throws `validation_failed` for a later end.
 */
export function endOfGrant(source: { readonly expiresAt: Date | null } | null, wanted: Date | null): Date | null {
  if (source === null || source.expiresAt === null) return wanted;
  if (wanted !== null && wanted > source.expiresAt)
    throw invalid('expires_at', `must not be later than ${source.expiresAt.toISOString()}, when your own access ends`);
  return wanted ?? source.expiresAt;
}

/**
 * The end that a grant keeps when something else of it is changed by a giver with this source: its own, or the source's where
 * that is sooner.
 */
export function keptEnd(source: { readonly expiresAt: Date | null } | null, present: Date | null): Date | null {
  const bound = source?.expiresAt ?? null;
  return bound !== null && (present === null || present > bound) ? bound : present;
}
