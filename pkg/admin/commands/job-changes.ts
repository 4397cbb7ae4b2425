import { systemRandom } from '../../runtime/random.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { TaskKind } from '../../tasks/task-kind.ts';
import { cancelForPlatform, retryForPlatform, taskOfWork, wakeTask, wakeWork } from '../../tasks/platform-tasks.ts';
import { findTask, type TaskRow } from '../../tasks/tasks.sql.ts';
import { CommandError } from '../../runtime/command-error.ts';
import { type TenantAccess, type TenantOptions, withTenant } from '../tenant-schema-access.ts';
import { isTask, noJob, notIdle, numberOf } from './jobs.ts';

interface Options extends TenantOptions {
  readonly json: boolean;
}

/** The result of a command: a line for people, fields for programs. */
interface Outcome {
  readonly text: string;
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  /** The job that a worker does now, if it is another one. */
  readonly retried_as?: string;
}

async function change({ json, ...options }: Options, work: (tx: Sql, tenant: TenantAccess) => Promise<Outcome>): Promise<void> {
  const { text, ...fields } = await withTenant(options, (tenant) => tenant.transaction((tx) => work(tx, tenant)));
  process.stdout.write(json ? `${JSON.stringify({ tenant: options.tenant, ...fields })}\n` : `${options.tenant}: ${text}\n`);
}

/**
 * Makes a job due at once, even a dead letter, as if it had never failed. If a person's job has ended, requests a new job of that
 * person for its failed items. `kinds` are the kinds whose items can be retried. Throws CommandError.
 */
export const retryJob = (id: string, { kinds, ...options }: Options & { readonly kinds: readonly TaskKind[] }): Promise<void> =>
  change(options, async (tx, tenant) => {
    if (isTask(id)) return retryTask(tx, tenant, id.toLowerCase(), kinds);
    const row = await wakeWork(tx, tenant.role, numberOf(id));
    if (!row) throw await notIdle(tx, tenant.role, id, tenant.slug);
    return dueNow(id, row.kind);
  });

const dueNow = (id: string, kind: string): Outcome => ({
  text: `job ${id} (${kind}) is due now; a worker takes it within seconds.`,
  id,
  kind,
  state: 'due',
});

async function retryTask(tx: Sql, { role, slug }: TenantAccess, id: string, kinds: readonly TaskKind[]): Promise<Outcome> {
  const task = await findTask(tx, id);
  if (!task) throw noJob(id, slug);
  if (task.endedAt === null) {
    if (await wakeTask(tx, role, task)) return dueNow(id, task.kind);
    throw new CommandError(
      `a worker is processing job ${id}, or the tenant is being moved; try again later, ` +
        `or end it: ${command('cancel', id, slug)}`,
    );
  }
  const kind = kinds.find(({ name }) => name === task.kind);
  const retried = kind && task.failed > 0 ? await retryForPlatform(tx, role, kind, task, systemRandom.uuid()) : null;
  if (!retried) throw new CommandError(`job ${id} (${task.kind}) has ended: ${whyNot(task, kind)}`);
  const items = retried.total === 1 ? 'its failed item' : `its ${retried.total} failed items`;
  return {
    text: `job ${id} (${task.kind}) has ended; job ${retried.uuid} retries ${items}.`,
    id,
    kind: task.kind,
    state: task.state,
    retried_as: retried.uuid,
  };
}

function whyNot({ state, failed, userId }: TaskRow, kind: TaskKind | undefined): string {
  if (failed > 0 && userId !== null && kind)
    return 'another job is already retrying its failed items (carrel jobs list --state all)';
  return state === 'failed' || failed > 0
    ? 'only its requester or its schedule can retry a job of this kind'
    : `it is ${state}, and none of its items failed`;
}

const command = (name: string, id: string, tenant: string): string => `carrel jobs ${name} ${id} --tenant ${tenant}`;

/** Cancels a person's job, or deletes a job of the worker that is not running. Throws CommandError. */
export const cancelJob = (id: string, options: Options): Promise<void> =>
  change(options, async (tx, tenant) => {
    if (isTask(id)) return cancelTask(tx, tenant, id.toLowerCase());
    // Without its row a person's job would never end.
    const task = await taskOfWork(tx, tenant.role, numberOf(id));
    if (task) return cancelTask(tx, tenant, task);
    const [row] = await tx.query<{ kind: string }>(
      'DELETE FROM carrel.work WHERE tenant = $1 AND id = $2 AND coalesce(leased_until < now(), true) RETURNING kind',
      [tenant.role, id],
    );
    if (!row) throw await notIdle(tx, tenant.role, id, tenant.slug);
    return { text: `job ${id} (${row.kind}) is deleted and will not be done.`, id, kind: row.kind, state: 'deleted' };
  });

async function cancelTask(tx: Sql, { role, slug }: TenantAccess, id: string): Promise<Outcome> {
  const canceled = await cancelForPlatform(tx, role, id);
  if (canceled) {
    const { kind, state, done, total } = canceled;
    return { text: `job ${id} (${kind}) is canceled; ${done} of ${total} are done and stay done.`, id, kind, state };
  }
  const task = await findTask(tx, id);
  if (!task) throw noJob(id, slug);
  throw new CommandError(`job ${id} has ended: it is ${task.state}`);
}
