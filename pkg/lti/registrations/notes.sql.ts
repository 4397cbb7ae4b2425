import type { Sql } from '../../store/postgres/pool.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';

/** Maximum of notes per tenant, and of all tenants, in one read. The next read gets the others. */
const MAX_OF_TENANT = 20;
const MAX_ROWS = 100;

/** A note expires after this time. */
const EXPIRES_AFTER = '30 days';
/** A note that was reported within this time is not reported again, even if its tenant has changed it since. */
const REPORTED_AGAIN_AFTER = '1 hour';

/** A note of a tenant's server about a registration. */
export interface Note {
  /** The tenant's role. */
  readonly tenant: string;
  /** `managed_ref` of the registration. */
  readonly reference: string;
  readonly isExpired: boolean;
}

export interface DeploymentNote extends Note {
  readonly deploymentId: string;
}

export interface ValueNote extends Note {
  readonly field: 'iss' | 'client_id' | 'lti_deployment_id';
  readonly value: string;
}

/** Statements for the notes of one kind, which the operator reports. */
export interface Notes<Row extends Note> {
  /** A SELECT of the notes to be reported or deleted. */
  readonly select: string;
  /** Marks the notes, so that they are not selected again for a while. */
  markReported(sql: Sql, rows: readonly Row[]): Promise<unknown>;
  remove(sql: Sql, rows: readonly Row[]): Promise<unknown>;
}

/** Deployments that launched although their registration does not list them. */
export const unknownDeployments = notesIn<DeploymentNote>('carrel.unknown_deployments', 'reported_at', {
  deploymentId: 'deployment_id',
});
/**
 * Issuers and client ids that an LMS sent instead of the registered ones, and deployments for which no registration was found.
 */
export const unknownValues = notesIn<ValueNote>('carrel.unknown_values', 'reported_at', { field: 'field', value: 'value' });

function notesIn<Row extends Note>(
  table: string,
  reportedAt: string,
  columns: Record<Exclude<keyof Row, keyof Note>, string>,
): Notes<Row> {
  const own = Object.entries<string>(columns);
  const all: [string, string][] = [['tenant', 'tenant'], ['reference', 'managed_ref'], ...own];
  const values = all.map(([, column], index) => `$${index + 1}::${column === 'tenant' ? 'name' : 'text'}[]`).join(', ');
  const these = `unnest(${values}) AS n (${all.map(([, column]) => column).join(', ')})
    WHERE ${all.map(([, column]) => `u.${column} = n.${column}`).join(' AND ')}`;
  const parametersOf = (rows: readonly Row[]): string[][] =>
    all.map(([name]) => rows.map((row) => String(row[name as keyof Row])));
  return {
    select: selectOf(table, reportedAt, own.map(([name, column]) => `${column} AS "${name}"`).join(', ')),
    markReported: (sql, rows) => sql.query(`UPDATE ${table} u SET ${reportedAt} = now() FROM ${these}`, parametersOf(rows)),
    remove: (sql, rows) => sql.query(`DELETE FROM ${table} u USING ${these}`, parametersOf(rows)),
  };
}

/**
 * Tenants write `noted_at`, so `reportedAt`, which they cannot write, bounds the reports. The query reads each tenant through the
 * table's key and takes one row of each before a second of any: a tenant that floods the table delays nobody else's reports.
 */
function selectOf(table: string, reportedAt: string, columns: string): string {
  return `
    WITH RECURSIVE tenants AS (
      (SELECT tenant FROM ${table} ORDER BY tenant LIMIT 1)
      UNION ALL
      SELECT (SELECT n.tenant FROM ${table} n WHERE n.tenant > t.tenant ORDER BY n.tenant LIMIT 1) FROM tenants t
        WHERE t.tenant IS NOT NULL)
    SELECT noted.tenant, managed_ref AS reference, ${columns}, noted_at < now() - interval '${EXPIRES_AFTER}' AS "isExpired"
    FROM tenants t CROSS JOIN LATERAL (
      SELECT few.*, row_number() OVER () AS turn FROM (
        SELECT n.* FROM ${table} n
        WHERE n.tenant = t.tenant AND (n.${reportedAt} IS NULL OR n.${reportedAt} < now() - interval '${REPORTED_AGAIN_AFTER}')
          AND (n.${reportedAt} IS NULL OR n.${reportedAt} < n.noted_at OR n.noted_at < now() - interval '${EXPIRES_AFTER}')
        LIMIT ${MAX_OF_TENANT}) few) noted
    ORDER BY turn, random() LIMIT ${MAX_ROWS}`;
}

/**
 * Deletes the notes about deployments that a registration now lists; without `listed`, all its notes including its unknown
 * values.
 */
export async function removeNotes(sql: Sql, slug: string, reference: string, listed?: readonly string[]): Promise<void> {
  await sql.query(
    `WITH removed AS (DELETE FROM carrel.unknown_values WHERE tenant = $1 AND managed_ref = $2 AND $3::text[] IS NULL)
     DELETE FROM carrel.unknown_deployments WHERE tenant = $1 AND managed_ref = $2
       AND ($3::text[] IS NULL OR deployment_id = ANY ($3))`,
    [tenantRole(slug), reference, listed ?? null],
  );
}
