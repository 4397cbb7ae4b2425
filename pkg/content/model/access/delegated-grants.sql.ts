import type { Actor } from '../../../api/actor.ts';
import type { Tx } from '../../../store/postgres/database.ts';
import type { Resource, Right } from './inherited-access.policy.ts';

/*
 * A grant that a grantee gives depends on a grant of theirs (permissions.granted_through) and neither exceeds nor outlives it.
 * Triggers enforce this. This file finds the grant that a new grant depends on, the people whose caches a change affects, and the
 * rights that a move would give.
 */

/** A grant that makes its holder admin, and that the holder's own grants to others depend on. */
export interface Source {
  readonly id: number;
  /** Null: never. */
  readonly expiresAt: Date | null;
}

const SOURCE = `
  WITH RECURSIVE excluded AS (
    SELECT $6::bigint AS id UNION SELECT p.id FROM excluded e JOIN permissions p ON p.granted_through = e.id
  )
  SELECT p.id, p.expires_at AS "expiresAt", p.group_id AS "groupId" FROM permissions p
  WHERE p.permission_level = 'admin' AND (p.expires_at IS NULL OR p.expires_at > $1)
    AND (p.user_id = $2 OR p.group_id IN (SELECT m.group_id FROM group_members m WHERE m.user_id = $2))
    AND (p.resource_type = $3 AND p.resource_id = $4
      OR p.resource_type = 'folder' AND p.resource_id IN (SELECT a.id FROM folders a WHERE a.uuid = ANY ($5::uuid[])))
    AND p.id NOT IN (SELECT e.id FROM excluded e WHERE e.id IS NOT NULL)
  ORDER BY p.expires_at DESC NULLS FIRST, p.id LIMIT 1 FOR SHARE OF p`;

/**
 * Returns the grant that makes the actor admin of a resource that they do not own, the longest-lived of several; locked until
 * the end of the transaction. Null: there is none. `without`: ignores that grant and those that depend on it, since it is about
 * to change.
 */
export async function sourceOf(
  tx: Tx,
  actor: Pick<Actor, 'userId'>,
  resource: Resource & { readonly kind: 'file' | 'folder'; readonly id: number },
  at: { now: Date; without: number | undefined },
): Promise<Source | null> {
  const folders = resource.ancestors.map(({ uuid }) => uuid);
  const [source] = await tx.query<Source & { groupId: number | null }>(SOURCE, [
    at.now,
    actor.userId,
    resource.kind,
    resource.id,
    folders,
    at.without ?? null,
  ]);
  if (!source || source.groupId === null) return source ?? null;
  const [member] = await tx.query('SELECT user_id FROM group_members WHERE group_id = $1 AND user_id = $2 FOR SHARE', [
    source.groupId,
    actor.userId,
  ]);
  return member ? source : null;
}

const RESTING_ON = `
  WITH RECURSIVE resting AS (
    SELECT unnest($1::bigint[]) AS id UNION SELECT p.id FROM resting r JOIN permissions p ON p.granted_through = r.id
  )
  SELECT p.id FROM permissions p JOIN resting r ON r.id = p.id ORDER BY p.id FOR UPDATE OF p`;

/**
 * Returns the uuids of all grantees of these grants and of those that depend on them. Locks these against changes until the end
 * of the transaction.
 */
export async function peopleConcerned(tx: Tx, grants: readonly number[]): Promise<string[]> {
  if (grants.length === 0) return [];
  let held: readonly number[] = [];
  for (;;) {
    const rows = await tx.query<{ id: number }>(RESTING_ON, [grants]);
    // The next statement sees grants that were added while this one waited for its locks.
    if (rows.length === held.length) break;
    held = rows.map(({ id }) => id);
  }
  const people = await tx.query<{ uuid: string }>(
    `SELECT DISTINCT u.uuid FROM permissions p LEFT JOIN group_members m ON m.group_id = p.group_id
     JOIN users u ON u.id = coalesce(p.user_id, m.user_id) WHERE p.id = ANY ($1::bigint[])`,
    [held],
  );
  return people.map(({ uuid }) => uuid);
}

/** Deletes grants and those that depend on them; returns the uuids of the grantees. */
async function end(tx: Tx, grants: readonly { readonly id: number }[]): Promise<string[]> {
  const ids = grants.map(({ id }) => id);
  const people = await peopleConcerned(tx, ids);
  if (ids.length > 0) await tx.query('DELETE FROM permissions WHERE id = ANY ($1::bigint[])', [ids]);
  return people;
}

/** Deletes grants that a user gave by virtue of a grant, when the user is deleted. Returns the uuids of the grantees. */
export const endGivenBy = async (tx: Tx, userId: number): Promise<string[]> =>
  end(
    tx,
    await tx.query<{ id: number }>('SELECT id FROM permissions WHERE granted_by = $1 AND granted_through IS NOT NULL', [userId]),
  );

const OUT_OF_REACH = `
  SELECT p.id FROM permissions p LEFT JOIN permissions s ON s.id = p.granted_through
  WHERE p.resource_type = 'file' AND p.resource_id = $1 AND (p.granted_through IS NULL AND p.granted_by = ANY ($3::bigint[])
    OR s.resource_type = 'folder' AND s.resource_id NOT IN (SELECT a.id FROM folders a WHERE a.uuid = ANY ($2::uuid[])))`;

/**
 * Ends grants on a file that was moved below `ancestors`, if their givers had the right only through a folder that it left: by a
 * grant on that folder, or by owning it. Returns the uuids of the grantees. One statement if there are none.
 */
export async function endOutOfReach(
  tx: Tx,
  file: Resource & { readonly id: number },
  ancestors: Resource['ancestors'],
): Promise<string[]> {
  const owners = new Set([file, ...ancestors].map(({ ownerId }) => ownerId));
  const left = file.ancestors.map(({ ownerId }) => ownerId).filter((ownerId) => !owners.has(ownerId));
  const folders = ancestors.map(({ uuid }) => uuid);
  return end(tx, await tx.query<{ id: number }>(OUT_OF_REACH, [file.id, folders, left]));
}

const OUT_OF_REACH_BELOW = `
  SELECT p.id FROM permissions p LEFT JOIN files f ON p.resource_type = 'file' AND f.id = p.resource_id
    JOIN folders d ON d.id = CASE p.resource_type WHEN 'folder' THEN p.resource_id ELSE f.folder_id END
  WHERE d.ancestry <@ (SELECT m.ancestry FROM folders m WHERE m.id = $1) AND (
    p.granted_through IN (SELECT s.id FROM permissions s JOIN folders a ON a.id = s.resource_id
      WHERE s.resource_type = 'folder' AND a.uuid = ANY ($2::uuid[]))
    OR p.granted_through IS NULL AND p.granted_by = ANY ($3::bigint[]) AND p.granted_by IS DISTINCT FROM f.owner_id
      AND NOT EXISTS (SELECT FROM folders a
        WHERE a.id = ANY (string_to_array(ltree2text(d.ancestry), '.')::bigint[]) AND a.owner_id = p.granted_by))`;

/**
 * Does the same for a folder that was moved from below `before`, and for everything in it: ends the grants that were given
 * through the folders that it has left. Call it after the move. No statement if it has left none, one if no grant depends on
 * them.
 */
export async function endOutOfReachBelow(
  tx: Tx,
  folderId: number,
  before: Resource['ancestors'],
  after: Resource['ancestors'],
): Promise<string[]> {
  const stay = new Set(after.map(({ uuid }) => uuid));
  const left = before.filter(({ uuid }) => !stay.has(uuid));
  if (left.length === 0) return [];
  const [folders, owners] = [left.map(({ uuid }) => uuid), left.map(({ ownerId }) => ownerId)];
  return end(tx, await tx.query<{ id: number }>(OUT_OF_REACH_BELOW, [folderId, folders, owners]));
}

const RIGHTS = `
  SELECT p.permission_level AS level, p.expires_at AS "endsAt",
    p.resource_type = 'file' OR d.uuid = ANY ($3::uuid[]) AS here,
    p.resource_type = 'folder' AND d.uuid = ANY ($4::uuid[]) AS there
  FROM permissions p LEFT JOIN folders d ON p.resource_type = 'folder' AND d.id = p.resource_id
  WHERE (p.user_id = $1 OR p.group_id IN (SELECT m.group_id FROM group_members m WHERE m.user_id = $1))
    AND (p.resource_type = 'file' AND p.resource_id = $2 OR d.uuid = ANY ($3::uuid[]) OR d.uuid = ANY ($4::uuid[]))
    AND (p.expires_at IS NULL OR p.expires_at > $5)`;

/** Returns the actor's rights by grants on a file or folder, where it is now and below `ancestors`. One statement. */
export async function rightsOfMove(
  tx: Tx,
  actor: Pick<Actor, 'userId'>,
  moved: Resource & { readonly id: number; readonly kind?: 'file' | 'folder' },
  ancestors: Resource['ancestors'],
  now: Date,
): Promise<{ here: Right[]; there: Right[] }> {
  const [before, after] = [moved.ancestors, ancestors].map((folders) => folders.map(({ uuid }) => uuid));
  const fileId = moved.kind === 'folder' ? null : moved.id;
  const rights = await tx.query<Right & { here: boolean; there: boolean }>(RIGHTS, [actor.userId, fileId, before, after, now]);
  return { here: rights.filter(({ here }) => here), there: rights.filter(({ there }) => there) };
}
