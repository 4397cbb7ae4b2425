import { quoteIdentifier, type SqlPool } from '../../store/postgres/pool.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { slugOf } from '../../store/tenant-resources.ts';
import { LocalError } from '../errors.ts';
import { type InstallationAccess, withInstallation } from '../installation-access.ts';
import { printRows } from '../rows.ts';

interface Options {
  readonly stateDirectory: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A job of the worker, by the number of its row, or of a person, by the id that GET /jobs shows. */
interface JobRow {
  readonly tenant: string;
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly attempts: number | null;
  /** ISO 8601 UTC: when it is due, or was requested by a person. */
  readonly at: string | null;
  readonly error: string | null;
}

const TIME = (sql: string): string => `to_char(${sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

const STATE = `CASE WHEN w.due_at = 'infinity' THEN 'dead' WHEN w.leased_until = 'infinity' THEN 'held' WHEN w.leased_until > now() THEN 'running'
  WHEN w.last_error LIKE 'not understood since %' THEN 'put_back' WHEN w.last_error IS NOT NULL THEN 'retrying' WHEN w.due_at <= now() THEN 'due' ELSE 'scheduled' END`;
const WORK = `SELECT w.tenant, w.id::text, w.kind, ${STATE} AS state, w.attempts, CASE WHEN w.due_at < 'infinity' THEN ${TIME('w.due_at')} END AS at,
  w.last_error AS error`;
const TASK = `SELECT $1::text AS tenant, t.uuid::text AS id, t.kind, t.state, NULL::int AS attempts, ${TIME('t.created_at')} AS at,
  t.error_code || ': ' || t.error_message AS error`;

/** Most rows of one list. */
const MOST = 1_000;

export interface ListOptions extends Options {
  /** A slug; undefined: of all tenants. */
  readonly tenant: string | undefined;
  /** A state; undefined: those that have failed in some way. `all`: any. */
  readonly state: string | undefined;
  readonly json: boolean;
}

const FAILED = ['dead', 'put_back', 'retrying', 'failed'];

/** Prints jobs of the worker, of one tenant those of its people too. */
export async function listJobs({ tenant: slug, state, json, ...options }: ListOptions): Promise<void> {
  await withInstallation(options, async (access) => {
    const states = state === 'all' ? null : state === undefined ? FAILED : [state];
    const rows = slug === undefined ? await ofAll(access, states) : await ofTenant(access, slug, states);
    const shown = rows.map((row) => ({ ...row, tenant: slugOf(row.tenant) }));
    printRows(shown, ['tenant', 'id', 'kind', 'state', 'attempts', 'at', 'error'], json);
    if (json) return;
    const what = state === undefined ? 'failed or wait for another attempt' : state === 'all' ? 'are there' : `are ${state}`;
    process.stdout.write(`${rows.length} ${rows.length === 1 ? 'job' : 'jobs'} ${what}${rows.length === MOST ? ', or more' : ''}.\n`);
  });
}

async function ofAll({ shards }: InstallationAccess, states: readonly string[] | null): Promise<JobRow[]> {
  const all = await Promise.all(
    [...shards.values()].map((pool) =>
      pool.query<JobRow>(
        `SELECT * FROM (${WORK} FROM carrel.work w) j WHERE $1::text[] IS NULL OR state = ANY ($1) ORDER BY tenant, id::bigint LIMIT ${MOST}`,
        [states],
      ),
    ),
  );
  return all.flat();
}

async function ofTenant(access: InstallationAccess, slug: string, states: readonly string[] | null): Promise<JobRow[]> {
  const { pool, role, schema } = await shardOf(access, slug);
  return pool.query<JobRow>(
    `SELECT * FROM (${WORK} FROM carrel.work w WHERE w.tenant = $1 UNION ALL ${TASK} FROM ${schema}.tasks t) j
     WHERE $2::text[] IS NULL OR state = ANY ($2) ORDER BY at DESC NULLS FIRST, id LIMIT ${MOST}`,
    [role, states],
  );
}

/** Prints all that there is of a job. Throws LocalError. */
export async function showJob(id: string, { tenant, ...options }: Options & { readonly tenant: string }): Promise<void> {
  await withInstallation(options, async (access) => {
    const { pool, role, schema } = await shardOf(access, tenant);
    const [row] = isTask(id)
      ? await pool.query(`SELECT to_jsonb(t) - 'id' - 'user_id' AS job FROM ${schema}.tasks t WHERE t.uuid = $1`, [id])
      : await pool.query('SELECT to_jsonb(w) AS job FROM carrel.work w WHERE w.tenant = $1 AND w.id = $2', [role, numberOf(id)]);
    if (!row) throw noJob(id, tenant);
    process.stdout.write(`${JSON.stringify(row['job'], null, 2)}\n`);
  });
}

/** Has a job of the worker, a dead letter too, due at once, as if it had never failed. Throws LocalError. */
export async function retryJob(id: string, { tenant, ...options }: Options & { readonly tenant: string }): Promise<void> {
  if (isTask(id)) throw new LocalError(`${id} is a job of a person: whoever requested it tries it again, by POST /jobs/${id}/retry`);
  await withInstallation(options, async (access) => {
    const { pool, role } = await shardOf(access, tenant);
    const [row] = await pool.query<{ kind: string }>(
      `UPDATE carrel.work SET due_at = now(), attempts = 0, last_error = NULL
       WHERE tenant = $1 AND id = $2 AND coalesce(leased_until < now(), true) RETURNING kind`,
      [role, numberOf(id)],
    );
    if (!row) throw await notIdle(pool, role, id, tenant);
    process.stdout.write(`${tenant}: job ${id} (${row.kind}) is due now; a worker takes it within seconds.\n`);
  });
}

/** Ends a person's job, or deletes one of the worker that does not run. Throws LocalError. */
export async function cancelJob(id: string, { tenant, ...options }: Options & { readonly tenant: string }): Promise<void> {
  await withInstallation(options, async (access) => {
    const { pool, role, schema } = await shardOf(access, tenant);
    if (isTask(id)) {
      const [task] = await pool.query<{ kind: string; done: number; total: number }>(
        `UPDATE ${schema}.tasks SET state = 'canceled', ended_at = now() WHERE uuid = $1 AND state IN ('queued', 'running') RETURNING kind, done, total`,
        [id],
      );
      if (task)
        process.stdout.write(`${tenant}: job ${id} (${task.kind}) is canceled; ${task.done} of ${task.total} are done and stay done.\n`);
      else throw (await pool.query(`SELECT FROM ${schema}.tasks WHERE uuid = $1`, [id])).length > 0 ? ended(id) : noJob(id, tenant);
      return;
    }
    const [row] = await pool.query<{ kind: string }>(
      'DELETE FROM carrel.work WHERE tenant = $1 AND id = $2 AND coalesce(leased_until < now(), true) RETURNING kind',
      [role, numberOf(id)],
    );
    if (!row) throw await notIdle(pool, role, id, tenant);
    process.stdout.write(`${tenant}: job ${id} (${row.kind}) is deleted and will not be done.\n`);
  });
}

async function shardOf(access: InstallationAccess, slug: string): Promise<{ pool: SqlPool; role: string; schema: string }> {
  const role = tenantRole(slug);
  return { pool: access.shardOf(await access.tenant(slug)), role, schema: quoteIdentifier(role) };
}

const isTask = (id: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);

function numberOf(id: string): string {
  if (!/^\d{1,18}$/.test(id))
    throw new LocalError(`${id} is not the id of a job: a number, or a UUID of a job of a person (carrel jobs list)`);
  return id;
}

const noJob = (id: string, tenant: string): LocalError =>
  new LocalError(`${tenant} has no job ${id}. It may be done: carrel jobs list --tenant ${tenant}`);
const ended = (id: string): LocalError => new LocalError(`job ${id} has ended`);

async function notIdle(pool: SqlPool, role: string, id: string, tenant: string): Promise<LocalError> {
  const isThere = (await pool.query('SELECT FROM carrel.work WHERE tenant = $1 AND id = $2', [role, numberOf(id)])).length > 0;
  return isThere ? new LocalError(`a worker is at job ${id}, or the tenant is being moved; try again later`) : noJob(id, tenant);
}
