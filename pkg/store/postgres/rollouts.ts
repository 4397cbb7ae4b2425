import type { Sql } from './pool.ts';

/** Returns the time since which rollouts of a new image are paused (registry); undefined if they are not. */
export async function pausedSince(sql: Sql): Promise<Date | undefined> {
  const [row] = await sql.query<{ at: Date | null }>('SELECT rollouts_paused_at AS at FROM registry.installation');
  return row?.at ?? undefined;
}

/** Repeating it is harmless: the first time counts. */
export async function pauseRollouts(sql: Sql): Promise<void> {
  await sql.query('UPDATE registry.installation SET rollouts_paused_at = now() WHERE rollouts_paused_at IS NULL');
}

/** Returns true if they were paused. */
export async function resumeRollouts(sql: Sql): Promise<boolean> {
  const resumed = await sql.query(
    'UPDATE registry.installation SET rollouts_paused_at = NULL WHERE rollouts_paused_at IS NOT NULL RETURNING sole',
  );
  return resumed.length > 0;
}
