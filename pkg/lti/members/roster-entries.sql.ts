import type { Sql } from '../../store/postgres/pool.ts';
import type { RosterMember } from './roster-member.policy.ts';

/**
 * A person has one entry for each combination of state and roles in which a roster names them. Returns how many entries are new.
 */
const ADD = `
  WITH added AS (
    INSERT INTO lti_roster_entries (task_id, subject, name, email, roles, role, is_active)
    SELECT $1, r.* FROM json_to_recordset($2::json) AS r (subject text, name text, email text, roles text[], role text,
      is_active boolean)
    ON CONFLICT DO NOTHING RETURNING 1)
  SELECT count(*)::int AS added FROM added`;

/** Stores entries that a job has read from a roster until they are imported. One statement. */
export async function addEntries(tx: Sql, taskId: number, members: string): Promise<number> {
  const [row] = await tx.query<{ added: number }>(ADD, [taskId, members]);
  return row?.added ?? 0;
}

/** Returns the entries in the format of addEntries. */
export const entriesJson = (members: readonly RosterMember[]): string => JSON.stringify(members);

export const deleteEntries = (tx: Sql, taskId: number): Promise<unknown> =>
  tx.query('DELETE FROM lti_roster_entries WHERE task_id = $1', [taskId]);

export const deleteEntriesOf = (tx: Sql, task: string): Promise<unknown> =>
  tx.query('DELETE FROM lti_roster_entries e USING tasks t WHERE t.uuid = $1 AND e.task_id = t.id', [task]);
