/** Of one tenant, and of all, at a look. More are read at the next one. */
const MAX_OF_TENANT = 20;
const MAX_ROWS = 100;

/** Rows that nobody needs after so long. */
const KEPT = '30 days';
/** A row that was reported within this is let be, whatever its tenant has written into it since. */
const REPORTED_AGAIN_AFTER = '1 hour';

/**
 * A SELECT of the rows that tenants noted and that are to be reported or dropped. Tenants write `noted_at`, so what bounds the Events is `reportedAt`, which they cannot write.
 * Each tenant is read by the table's key, and gets its turn before another gets its second: whoever floods the table keeps nobody from being heard.
 */
export function notedRows(of: { table: string; columns: string; reportedAt: string }): string {
  const { table, columns, reportedAt } = of;
  return `
    WITH RECURSIVE tenants AS (
      (SELECT tenant FROM ${table} ORDER BY tenant LIMIT 1)
      UNION ALL
      SELECT (SELECT n.tenant FROM ${table} n WHERE n.tenant > t.tenant ORDER BY n.tenant LIMIT 1) FROM tenants t WHERE t.tenant IS NOT NULL)
    SELECT noted.tenant, managed_ref AS reference, ${columns}, noted_at < now() - interval '${KEPT}' AS "isOld"
    FROM tenants t CROSS JOIN LATERAL (
      SELECT few.*, row_number() OVER () AS turn FROM (
        SELECT n.* FROM ${table} n
        WHERE n.tenant = t.tenant AND (n.${reportedAt} IS NULL OR n.${reportedAt} < now() - interval '${REPORTED_AGAIN_AFTER}')
          AND (n.${reportedAt} IS NULL OR n.${reportedAt} < n.noted_at OR n.noted_at < now() - interval '${KEPT}')
        LIMIT ${MAX_OF_TENANT}) few) noted
    ORDER BY turn, random() LIMIT ${MAX_ROWS}`;
}
