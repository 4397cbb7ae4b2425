import type { Installation } from '../installation.ts';
import type { SqlPool } from '../../store/postgres/pool.ts';
import { slugOf } from '../../store/tenant-resources.ts';
import { WORK_OF_TASK } from '../../tasks/platform-tasks.ts';
import { TASK_STATES } from '../../tasks/tasks.schema.ts';
import { CommandError } from '../../runtime/command-error.ts';
import { withInstallation } from '../installation-access.ts';
import { printRows } from '../rows.ts';
import { type TenantOptions, withTenant } from '../tenant-schema-access.ts';

/** A job of the worker, by the number of its row, or of a person, by the id that GET /jobs shows. */
interface JobRow {
  readonly tenant: string;
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly attempts: number | null;
  /** ISO 8601 UTC: when it is due, or when a person requested it. */
  readonly at: string | null;
  readonly error: string | null;
}

const TIME = (sql: string): string => `to_char(${sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

const STATE = `CASE WHEN w.due_at = 'infinity' THEN 'dead' WHEN w.leased_until = 'infinity' THEN 'held'
  WHEN w.leased_until > now() THEN 'running' WHEN w.last_error LIKE 'not understood since %' THEN 'put_back'
  WHEN w.last_error IS NOT NULL THEN 'retrying' WHEN w.due_at <= now() THEN 'due' ELSE 'scheduled' END`;
const WORK = `SELECT w.tenant, w.id::text, w.kind, ${STATE} AS state, w.attempts,
  CASE WHEN w.due_at < 'infinity' THEN ${TIME('w.due_at')} END AS at,
  w.last_error AS error`;
const TASK = `SELECT $1::text AS tenant, t.uuid::text AS id, t.kind, t.state, NULL::int AS attempts,
  ${TIME('t.created_at')} AS at,
  t.error_code || ': ' || t.error_message AS error`;

const WORK_STATES = ['dead', 'put_back', 'retrying', 'due', 'running', 'scheduled', 'held'] as const;
/** The values of `--state`. */
const LISTED_STATES: readonly string[] = [...new Set<string>([...WORK_STATES, ...TASK_STATES]), 'all'];

/** The maximum number of rows in a list. */
const MOST = 1_000;

export interface ListOptions extends Omit<TenantOptions, 'tenant'> {
  /** A slug; undefined: jobs of all tenants. */
  readonly tenant: string | undefined;
  /** A state of LISTED_STATES; undefined: all states of failure. */
  readonly state: string | undefined;
  readonly json: boolean;
}

const FAILED = ['dead', 'put_back', 'retrying', 'failed'];

/** Prints jobs of the worker; with a tenant, also those of its people. Throws CommandError. */
export async function listJobs({ tenant, state, json, installation }: ListOptions): Promise<void> {
  if (state !== undefined && !LISTED_STATES.includes(state))
    throw new CommandError(`--state must be one of ${LISTED_STATES.join(', ')}`);
  const states = state === 'all' ? null : state === undefined ? FAILED : [state];
  const rows =
    tenant === undefined ? await jobsOfAllTenants(installation, states) : await jobsOfTenant({ installation, tenant }, states);
  const shown = rows.map((row) => ({ ...row, tenant: slugOf(row.tenant) }));
  printRows(shown, ['tenant', 'id', 'kind', 'state', 'attempts', 'at', 'error'], json);
  if (json) return;
  process.stdout.write(
    `${counted(rows.length, state)}${rows.length === MOST ? ' These are the first; there may be more.' : ''}\n`,
  );
}

function counted(count: number, state: string | undefined): string {
  const jobs = count === 1 ? '1 job' : `${count} jobs`;
  if (state === undefined) return `${jobs} failed or ${count === 1 ? 'waits' : 'wait'} for another attempt.`;
  if (state === 'all') return `${jobs}.`;
  return `${jobs} in the state ${state}.`;
}

const jobsOfAllTenants = (installation: Installation, states: readonly string[] | null): Promise<JobRow[]> =>
  withInstallation(installation, async ({ shards }) => {
    const all = await Promise.all(
      [...shards.values()].map((pool) =>
        pool.query<JobRow>(
          `SELECT * FROM (${WORK} FROM carrel.work w) j WHERE $1::text[] IS NULL OR state = ANY ($1)
           ORDER BY tenant, id::bigint LIMIT ${MOST}`,
          [states],
        ),
      ),
    );
    return all.flat().slice(0, MOST);
  });

const jobsOfTenant = (options: TenantOptions, states: readonly string[] | null): Promise<JobRow[]> =>
  withTenant(options, ({ role, transaction }) =>
    transaction((tx) =>
      tx.query<JobRow>(
        `SELECT * FROM (${WORK} FROM carrel.work w WHERE w.tenant = $1 UNION ALL ${TASK} FROM tasks t) j
         WHERE $2::text[] IS NULL OR state = ANY ($2) ORDER BY at DESC NULLS FIRST, id LIMIT ${MOST}`,
        [role, states],
      ),
    ),
  );

/** The maximum number of errors whose codes and messages `show` prints. */
const ERRORS_MAX = 20;

/**
 * Prints everything about a job as JSON. For a person's job it includes the worker's rows, and the errors of its items. Throws
 * CommandError.
 */
export async function showJob(id: string, { json, ...options }: TenantOptions & { readonly json: boolean }): Promise<void> {
  const job = await withTenant(options, ({ role, slug, transaction }) =>
    transaction(async (tx) => {
      const [row] = isTask(id)
        ? await tx.query(
            `SELECT to_jsonb(t) - 'id' - 'user_id' - 'schedule_id' || jsonb_build_object(
               'failed_items', (SELECT coalesce(jsonb_agg(e), '[]') FROM (
                 SELECT i.error_code AS code, max(i.error_message) AS message, count(*) AS count FROM task_items i
                 WHERE i.task_id = t.id AND i.state = 'failed' GROUP BY i.error_code
                 ORDER BY count(*) DESC LIMIT ${ERRORS_MAX}) e),
               'worker', (SELECT coalesce(jsonb_agg(to_jsonb(w) - 'payload' || jsonb_build_object('state', ${STATE})), '[]')
                 FROM carrel.work w WHERE ${WORK_OF_TASK})) AS job
             FROM tasks t WHERE t.uuid::text = $2`,
            [role, id.toLowerCase()],
          )
        : await tx.query(
            `SELECT to_jsonb(w) || jsonb_build_object('state', ${STATE}) AS job
             FROM carrel.work w WHERE w.tenant = $1 AND w.id = $2`,
            [role, numberOf(id)],
          );
      if (!row) throw noJob(id, slug);
      return row['job'];
    }),
  );
  process.stdout.write(`${json ? JSON.stringify(job) : JSON.stringify(job, null, 2)}\n`);
}

/** Returns true if the id is that of a person's job. */
export const isTask = (id: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);

/** Throws CommandError. */
export function numberOf(id: string): string {
  if (!/^\d{1,18}$/.test(id))
    throw new CommandError(`${id} is not the id of a job, which is a number, or a UUID for a person's job (carrel jobs list)`);
  return id;
}

export const noJob = (id: string, tenant: string): CommandError =>
  new CommandError(`${tenant} has no job ${id}. It may be done: carrel jobs list --tenant ${tenant} --state all`);

/** Returns why the command did not change a job of the worker. */
export async function notIdle(sql: Pick<SqlPool, 'query'>, role: string, id: string, tenant: string): Promise<CommandError> {
  const isThere = (await sql.query('SELECT FROM carrel.work WHERE tenant = $1 AND id = $2', [role, numberOf(id)])).length > 0;
  return isThere
    ? new CommandError(`a worker is processing job ${id}, or the tenant is being moved; try again later`)
    : noJob(id, tenant);
}
