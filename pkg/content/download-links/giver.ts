import { permissionSet } from '../../access/permission-sets.ts';
import type { Actor, Role } from '../../api/actor.ts';
import { permissionsOf } from '../../api/role-permissions.ts';
import type { Database } from '../../store/postgres/database.ts';
import { grantsOf } from '../model/access/grants-of-user.sql.ts';

const GIVER = `SELECT id AS "userId", email, roles FROM users WHERE uuid = $1 AND is_active`;

/**
 * Returns the person who gave a link away, with their present rights but no session. Returns undefined if they may no longer sign
 * in or read files. Takes two statements.
 */
export async function giverOf(db: Database, uuid: string, now: Date): Promise<Actor | undefined> {
  const [user] = await db.prepared<{ userId: number; email: string; roles: readonly Role[] }>('content-giver', GIVER, [uuid]);
  if (!user || !permissionsOf(user.roles).has('read:files')) return undefined;
  const { entries } = await grantsOf(db, user.userId, now);
  const granted = permissionSet(entries);
  const permissions = new Set(['read:files'] as const);
  return { ...user, userUuid: uuid, permissions, sessionId: '', tenantId: '', permissionSet: () => Promise.resolve(granted) };
}
