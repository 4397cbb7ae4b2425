import type { Actor } from '../../api/actor.ts';
import { invalid, Problem } from '../../api/problem.ts';
import { type AccessSubject, isOwnedBy, levelOn, type Resource, requireLevel } from '../model/access/inherited-access.policy.ts';

/*
 * Who may share a file or folder, and for how long (docs/design/api-conventions.md, Permissions).
 */

/** Only an admin of a file or folder lists, creates and revokes grants on it. Throws `not_found`, `forbidden`. */
export const requireSharing = (caller: AccessSubject, resource: Resource & { readonly kind: 'file' | 'folder' }): void =>
  requireLevel(levelOn(resource.kind, caller, resource), 'admin');

/** Nobody who is admin only through a grant may change that grant. Owners are not limited by grants. Throws `forbidden`. */
export function requireNotOwnGrant(
  actor: Pick<Actor, 'userId' | 'userUuid'>,
  resource: Resource,
  granteeUuid: string | undefined,
): void {
  if (granteeUuid === actor.userUuid && !isOwnedBy(resource, actor))
    throw new Problem('forbidden', 'You cannot change your own grant; the user who gave it can.');
}

/**
 * Returns when a new grant ends. If its giver is admin through the grant `source`, it ends no later than `source`; a null
 * source means that the giver owns the resource. Throws `validation_failed` for a later end.
 */
export function endOfGrant(source: { readonly expiresAt: Date | null } | null, wanted: Date | null): Date | null {
  if (source === null || source.expiresAt === null) return wanted;
  if (wanted !== null && wanted > source.expiresAt)
    throw invalid('expires_at', `must not be later than ${source.expiresAt.toISOString()}, when your own access ends`);
  return wanted ?? source.expiresAt;
}

/**
 * Returns the end of a grant whose other fields were changed by a giver with this source: its present end, or the end of the
 * source if that is earlier.
 */
export function keptEnd(source: { readonly expiresAt: Date | null } | null, present: Date | null): Date | null {
  const bound = source?.expiresAt ?? null;
  return bound !== null && (present === null || present > bound) ? bound : present;
}
