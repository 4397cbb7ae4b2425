import type { Sql } from '../pool.ts';

/** The tables whose rows the worker leases. */
const LEASED = ['work', 'deliveries'];

/**
 * Keeps the worker from a tenant's jobs and deliveries, until `releaseJobs`: their leases never end. False: some run, and nothing was changed.
 */
export async function holdJobs(tx: Sql, role: string): Promise<boolean> {
  for (const table of LEASED) {
    const rows = await tx.query<{ isRunning: boolean }>(
      `SELECT leased_until > now() AND leased_until < 'infinity' AS "isRunning" FROM carrel.${table} WHERE tenant = $1 AND due_at IS NOT NULL FOR UPDATE`,
      [role],
    );
    if (rows.some(({ isRunning }) => isRunning)) return false;
  }
  for (const table of LEASED)
    await tx.query(
      `UPDATE carrel.${table} SET leased_until = 'infinity', fence = gen_random_uuid() WHERE tenant = $1 AND due_at IS NOT NULL`,
      [role],
    );
  return true;
}

/** The worker may take them again. */
export async function releaseJobs(sql: Sql, role: string): Promise<void> {
  for (const table of LEASED)
    await sql.query(`UPDATE carrel.${table} SET leased_until = NULL, fence = NULL WHERE tenant = $1 AND leased_until = 'infinity'`, [role]);
}
