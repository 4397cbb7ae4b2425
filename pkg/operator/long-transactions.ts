import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { counter } from '../kube/metrics.ts';
import type { ShardChanges } from './shard-changes.ts';

/** Far beyond the default limits of a server's statements (8 s) and idle transactions (30 s), which a tenant's role can lift. */
const LONGEST_TRANSACTION_SECONDS = 60;

interface Deps {
  readonly tenants: { readonly size: number };
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The longest time that a transaction may be open. Default: LONGEST_TRANSACTION_SECONDS. */
  readonly seconds?: number;
}

interface Row {
  readonly tenant: string;
}

interface Ended {
  readonly tenant: string;
  readonly reason: 'transaction' | 'suspended' | 'limit';
  readonly state: string | null;
  readonly seconds: number | null;
}

/**
 * Selects sessions of tenants' roles whose transaction has been open for too long, running or idle. Such a transaction holds
 * locks on shared tables and delays vacuum. Also selects sessions beyond the role's limit: all of them while the tenant is
 * suspended. The operator sees and ends them as a member of the role. Sessions of a role of which it is not yet a member show no
 * state and are skipped. Postgres ends no session when a limit shrinks; the sessions beyond it are ended here, those without a
 * transaction first.
 */
const sessions = (seconds: number): string => `
  FROM (
    SELECT *, row_number() OVER (PARTITION BY usesysid, backend_type ORDER BY xact_start IS NULL, backend_start, pid) AS nth
    FROM pg_stat_activity
  ) a JOIN carrel.tenants t ON t.role = a.usename JOIN pg_roles r ON r.oid = a.usesysid
  WHERE a.xact_start < now() - interval '${seconds} seconds'
    OR (r.rolconnlimit >= 0 AND a.nth > r.rolconnlimit AND a.backend_type = 'client backend' AND a.state IS NOT NULL)`;

/** Ends these sessions: the leader polls each shard every 5 s (shard-changes.ts). */
export function longTransactions({
  tenants,
  log,
  metrics,
  seconds: longest = LONGEST_TRANSACTION_SECONDS,
}: Deps): ShardChanges<Row> {
  const ended = counter(
    metrics,
    'carrel_tenant_sessions_ended_total',
    'Sessions of tenants in Postgres that the operator ended.',
    ['reason'],
  );
  return {
    isWanted: () => tenants.size > 0,
    select: `SELECT a.usename AS tenant ${sessions(longest)}`,
    // The statement selects the sessions again, since a process id may have been reused. Their statements may hold people's data
    // and are not logged.
    async onChange(pool) {
      const found = await pool.query<Ended & { isEnded: boolean }>(
        `SELECT a.usename AS tenant, CASE WHEN r.rolconnlimit = 0 THEN 'suspended'
             WHEN a.xact_start < now() - interval '${longest} seconds' THEN 'transaction' ELSE 'limit' END AS reason, a.state,
           extract(epoch FROM now() - a.xact_start)::int AS seconds,
           pg_terminate_backend(a.pid) AS "isEnded" ${sessions(longest)}`,
      );
      for (const { isEnded, tenant, reason, state, seconds } of found) {
        if (!isEnded) continue;
        ended.inc({ reason });
        log.warn({ tenant, state, seconds, reason }, 'ended a session of a tenant in Postgres');
      }
    },
  };
}
