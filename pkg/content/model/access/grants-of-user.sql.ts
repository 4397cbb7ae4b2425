import type { GrantSource } from '../../../access/permission-sets.ts';
import type { Database, Executor } from '../../../store/postgres/database.ts';

const GRANTS_OF = `
  SELECT p.permission_level || ':' || p.resource_type || '/' || coalesce(f.uuid, d.uuid) AS entry, p.expires_at AS "endsAt"
  FROM permissions p
  LEFT JOIN files f ON p.resource_type = 'file' AND f.id = p.resource_id
  LEFT JOIN folders d ON p.resource_type = 'folder' AND d.id = p.resource_id
  WHERE (p.user_id = $1 OR p.group_id IN (SELECT m.group_id FROM group_members m WHERE m.user_id = $1))
    AND (p.expires_at IS NULL OR p.expires_at > $2)
    AND coalesce(f.uuid, d.uuid) IS NOT NULL`;

/** Returns a user's live grants, direct and through groups, and when the first of them ends. One statement. */
export async function grantsOf(sql: Pick<Executor, 'prepared'>, userId: number, now: Date): ReturnType<GrantSource['grantsOf']> {
  const rows = await sql.prepared<{ entry: string; endsAt: Date | null }>('content-grants-of', GRANTS_OF, [userId, now]);
  const ends = rows.flatMap(({ endsAt }) => (endsAt === null ? [] : [endsAt.getTime()]));
  return {
    entries: [...new Set(rows.map(({ entry }) => entry))],
    endsAt: ends.length === 0 ? null : new Date(Math.min(...ends)),
  };
}

/** Returns content's part of a permission set. */
export const grantSource = (db: Database): GrantSource => ({ grantsOf: (userId, now) => grantsOf(db, userId, now) });
