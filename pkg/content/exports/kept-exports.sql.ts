import type { Sql } from '../../store/postgres/pool.ts';

/**
 * Returns how many archives the schedule of this task (by uuid) keeps. Returns null if the schedule is gone or does something
 * else, or if the task retries a run. `lock` locks the schedule until the end of the transaction. Takes one statement.
 */
export async function keptOfRun(tx: Sql, task: string, { lock = false } = {}): Promise<number | null> {
  const [row] = await tx.query<{ keep: number }>(
    `SELECT (s.arguments ->> 'keep')::int AS keep FROM schedules s JOIN tasks t ON t.schedule_id = s.id
     WHERE t.uuid = $1 AND s.kind = 'export_folder' ${lock ? 'FOR SHARE OF s' : ''}`,
    [task],
  );
  return row?.keep ?? null;
}

/**
 * Locks the owner in a statement of its own: a sum in the statement that waits for the lock would miss what was committed
 * meanwhile.
 */
export const lockOwner = (tx: Sql, userId: number): Promise<unknown> =>
  tx.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);

/**
 * Returns the bytes that one more archive of a schedule may have. The kept archives of all schedules of the owner must fit into
 * the owner's quota, and those of all owners, together with all files, into the tenant's limit. `stay`: only the newest so many
 * archives of the schedule count, because the others are about to go; null: all count. Throws LimitReached if the person or the
 * tenant may store nothing. One statement.
 */
export async function remainingForArchives(
  tx: Sql,
  of: { readonly schedule: string; readonly userId: number; readonly stay: number | null; readonly now: Date },
): Promise<number> {
  const [row] = await tx.query<{ bytes: number }>(
    `WITH kept AS (
       SELECT e.user_id, e.size FROM exports e WHERE e.schedule IS NOT NULL AND e.expires_at > $4
         AND ($3::int IS NULL OR e.schedule <> $1 OR e.id IN (${newest('$1', '$3')}))
     )
     SELECT least(
       u.storage_quota - (SELECT coalesce(sum(k.size), 0) FROM kept k WHERE k.user_id = u.id),
       carrel.remaining_of_tenant(u.id) - (SELECT coalesce(sum(k.size), 0) FROM kept k)
     )::bigint AS bytes FROM users u WHERE u.id = $2`,
    [of.schedule, of.userId, of.stay, of.now],
  );
  return row?.bytes ?? 0;
}

const newest = (schedule: string, count: string): string =>
  `SELECT n.id FROM exports n WHERE n.schedule = ${schedule} AND n.expires_at = 'infinity' ORDER BY n.id DESC LIMIT ${count}`;

/**
 * Expires the archives of a schedule beyond the newest `keep`, and updates their jobs. Returns false if there are none. One
 * statement.
 */
export async function expireBeyond(tx: Pick<Sql, 'query'>, schedule: string, keep: number, at: Date): Promise<boolean> {
  const expired = await tx.query(
    `WITH expired AS (
       UPDATE exports e SET expires_at = $3 WHERE e.schedule = $1 AND e.expires_at = 'infinity'
         AND e.id NOT IN (${newest('$1', '$2')}) RETURNING e.uuid
     ), shown AS (
       UPDATE tasks t SET result = jsonb_set(t.result, '{expires_at}', to_jsonb($4::text)) FROM expired x
       WHERE t.uuid = x.uuid AND t.result IS NOT NULL
     )
     SELECT FROM expired LIMIT 1`,
    [schedule, keep, at, at.toISOString()],
  );
  return expired.length > 0;
}

/** Expires all archives of a person. Returns false if there are none. */
export const expireOfUser = async (tx: Sql, userId: number, now: Date): Promise<boolean> =>
  (await tx.query('UPDATE exports SET expires_at = $2 WHERE user_id = $1 AND expires_at > $2 RETURNING id', [userId, now]))
    .length > 0;
