import { LOCK_TIMEOUT } from '../migrate.ts';
import type { Sql } from '../pool.ts';
import { retryDdl } from '../retry-ddl.ts';
import type { ShardAccess } from './shard-access.ts';
import { endConnections } from './drop-tenant.ts';
import { becomeMember } from './owned-objects.ts';

export const WORKER_ROLE = 'carrel_worker';

/**
 * Backlogs grow and shrink within seconds, so the planner's statistics are always out of date. The planner would read a whole
 * backlog to take eight of its rows. Every query of the worker uses a key that has an index.
 */
const BY_KEY_ONLY = ['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin'];

const SETTINGS = [
  `search_path = "$user", ext`,
  `statement_timeout = '50s'`,
  `lock_timeout = '5s'`,
  `idle_in_transaction_session_timeout = '60s'`,
  ...BY_KEY_ONLY.map((setting) => `${setting} = off`),
];

/**
 * Makes the worker's role with its settings. Postgres applies these at login, and a worker may be connected before the operator
 * has come here. So this precedes the base, and ends the worker's sessions if the settings have changed or the base is not
 * there yet: jobs come later, and run in sessions that have the settings. Idempotent. After a crash the next run makes a missing
 * base and ends the sessions; where only settings had changed, sessions keep the former ones until they end.
 */
export async function ensureWorkerRole(shard: ShardAccess): Promise<void> {
  const isChanged = await retryDdl(shard, () => shard.pool.transaction(makeRole));
  if (isChanged || !(await hasBase(shard.pool))) await endConnections(shard.pool, WORKER_ROLE, 0);
}

/** Returns whether the settings have changed. */
async function makeRole(tx: Sql): Promise<boolean> {
  await tx.query(`
    SET LOCAL lock_timeout = '${LOCK_TIMEOUT}';
    DO $$
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${WORKER_ROLE}') THEN
        CREATE ROLE ${WORKER_ROLE} NOLOGIN NOINHERIT;
      END IF;
    END $$;
    ALTER ROLE ${WORKER_ROLE} NOINHERIT;
  `);
  await becomeMember(tx, WORKER_ROLE);
  const before = await settingsOf(tx);
  await tx.query(SETTINGS.map((setting) => `ALTER ROLE ${WORKER_ROLE} SET ${setting}`).join('; '));
  return (await settingsOf(tx)) !== before;
}

async function settingsOf(sql: Sql): Promise<string | null | undefined> {
  const [role] = await sql.query<{ settings: string | null }>(
    `SELECT rolconfig::text AS settings FROM pg_roles WHERE rolname = '${WORKER_ROLE}'`,
  );
  return role?.settings;
}

async function hasBase(sql: Sql): Promise<boolean> {
  const [base] = await sql.query<{ isThere: boolean }>(`SELECT to_regnamespace('carrel') IS NOT NULL AS "isThere"`);
  return base?.isThere === true;
}
