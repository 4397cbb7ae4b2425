import type { Executor } from '../../store/postgres/database.ts';
import { originParameter } from '../../store/postgres/origin.ts';
import type { Sql } from '../../store/postgres/pool.ts';

type Shown = Readonly<Record<string, unknown>>;

/** A change of a line item, with the fields that its entry in the audit log shows. */
export interface LineItemChange {
  readonly what: 'create' | 'update' | 'delete';
  /** Our id; null: the line item has none yet. */
  readonly id: string | null;
  /** Null: the label of the last entry. */
  readonly label: string | null;
  readonly before: Shown;
  readonly after: Shown;
}

/** The LMS answers within 25 s, and its change is recorded within a further 10 s. */
const OVERDUE = '5 minutes';
/** Maximum per transaction. */
const MOST = 1_000;

/** Records the change before the LMS is asked. One statement. */
export async function beginChange(sql: Executor, key: string, { what, id, label, before, after }: LineItemChange): Promise<void> {
  await sql.query(
    'INSERT INTO lti_line_item_changes (id, what, line_item, label, before, after, origin) VALUES ($1, $2, $3, $4, $5, $6, $7)',
    [key, what, id, label, JSON.stringify(before), JSON.stringify(after), originParameter()],
  );
}

/** Deletes the record because the LMS did not make the change. One statement. */
export const dropChange = (sql: Executor, key: string): Promise<unknown> =>
  sql.query('DELETE FROM lti_line_item_changes WHERE id = $1', [key]);

/** The LMS has made the change: writes its entry in the audit log, exactly once even if this runs again. One statement. */
export async function endChange(sql: Executor, key: string, { what, id, label, before, after }: LineItemChange): Promise<void> {
  await sql.query(
    `WITH ended AS (DELETE FROM lti_line_item_changes WHERE id = $1 RETURNING origin)
     SELECT carrel.audit_line_item($2, $3, $4, $5, $6, origin) FROM ended`,
    [key, what, id, label, JSON.stringify(before), JSON.stringify(after)],
  );
}

/**
 * The LMS has deleted a line item: deletes our id and writes its entry in the audit log. Of several deletions only the first
 * writes one. One statement.
 */
export async function endDeletion(sql: Executor, key: string, id: number): Promise<void> {
  await sql.query(
    `WITH ended AS (DELETE FROM lti_line_item_changes WHERE id = $1 RETURNING label, before, after, origin),
       gone AS (DELETE FROM lti_line_items WHERE id = $2 RETURNING uuid)
     SELECT carrel.audit_line_item('delete', uuid, label, before, after, origin) FROM gone, ended`,
    [key, id],
  );
}

/** Writes entries for changes whose outcome nobody recorded; returns how many. One statement. */
export async function endOverdueChanges(sql: Sql): Promise<number> {
  const ended = await sql.query(
    `WITH ended AS (DELETE FROM lti_line_item_changes WHERE id IN (
         SELECT id FROM lti_line_item_changes WHERE asked_at < now() - interval '${OVERDUE}' LIMIT ${MOST}) RETURNING *)
     SELECT carrel.audit_line_item(what, line_item, label, before,
       after || jsonb_build_object('outcome', 'unknown', 'asked_at', asked_at), origin) FROM ended`,
  );
  return ended.length;
}
