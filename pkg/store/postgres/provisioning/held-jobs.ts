import type { Sql } from '../pool.ts';

/** The tables whose rows the worker leases. */
const LEASED = ['work', 'deliveries'];

/**
 * Keeps the worker from a tenant's jobs and deliveries, until `releaseJobs`: their leases never end. Those that run are left
 * until they have ended; false: there are such ones, and a later call holds what they leave. However many wait, none of them
 * begins from the first call on.
 */
export async function holdJobs(tx: Sql, role: string): Promise<boolean> {
  for (const table of LEASED)
    await tx.query(
      `UPDATE carrel.${table} SET leased_until = 'infinity', fence = gen_random_uuid()
       WHERE tenant = $1 AND due_at IS NOT NULL AND (leased_until IS NULL OR leased_until <= now())`,
      [role],
    );
  const runsIn = (table: string): string => `EXISTS (
    SELECT FROM carrel.${table}
    WHERE tenant = $1 AND due_at IS NOT NULL AND leased_until IS DISTINCT FROM 'infinity')`;
  const [left] = await tx.query<{ isRunning: boolean }>(`SELECT ${LEASED.map(runsIn).join(' OR ')} AS "isRunning"`, [role]);
  return left?.isRunning === false;
}

/**
 * The worker may take them again. What has ended is not looked at: the operator does this each time it looks after a tenant, and
 * there may be a million.
 */
export async function releaseJobs(sql: Sql, role: string): Promise<void> {
  for (const table of LEASED)
    await sql.query(
      `UPDATE carrel.${table} SET leased_until = NULL, fence = NULL
       WHERE tenant = $1 AND due_at IS NOT NULL AND leased_until = 'infinity'`,
      [role],
    );
}
