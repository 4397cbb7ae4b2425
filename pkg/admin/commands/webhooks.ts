import { setTimeout as sleep } from 'node:timers/promises';
import { EVENT_RETENTION_DAYS } from '../../events/retention.ts';
import { systemRandom } from '../../runtime/random.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { requestForPlatform } from '../../tasks/platform-tasks.ts';
import type { TaskState } from '../../tasks/tasks.schema.ts';
import { findTask, type TaskRow } from '../../tasks/tasks.sql.ts';
import { REPLAYABLE_STATES, statesOf } from '../../webhooks/deliveries.schema.ts';
import { REPLAY, type ReplayArguments } from '../../webhooks/replays/replay-task.ts';
import { notAhead } from '../../webhooks/replays/replays.service.ts';
import { CommandError } from '../../runtime/command-error.ts';
import { printRows } from '../rows.ts';
import { type TenantAccess, type TenantOptions, withTenant } from '../tenant-schema-access.ts';
import { DAY_MS } from '../../runtime/time.ts';

interface WebhookRow extends Readonly<Record<string, string | number | boolean | null>> {
  readonly id: string;
  readonly url: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly disabled_reason: string | null;
  readonly due: number;
}

/** Prints the webhooks of a tenant, with the number of due deliveries of each. */
export async function listWebhooks({ json, ...options }: TenantOptions & { readonly json: boolean }): Promise<void> {
  const rows = await withTenant(options, ({ role, transaction }) =>
    transaction((tx) =>
      tx.query<WebhookRow>(
        `SELECT w.uuid::text AS id, w.url, w.active,
           to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS failing_since, w.disabled_reason,
           (SELECT count(*)::int FROM carrel.deliveries d
             WHERE d.tenant = $1 AND d.endpoint = w.uuid AND d.due_at <= now()) AS due
         FROM webhooks w ORDER BY w.created_at, w.id`,
        [role],
      ),
    ),
  );
  printRows(rows, ['id', 'url', 'active', 'failing_since', 'disabled_reason', 'due'], json);
  if (json) return;
  const failing = rows.filter((row) => !row.active || row.failing_since !== null).length;
  const count = rows.length === 1 ? '1 webhook' : `${rows.length} webhooks`;
  process.stdout.write(`${options.tenant} has ${count}${rows.length === 0 ? '' : `; ${failing} failing or not active`}.\n`);
}

interface ReplayOptions extends TenantOptions {
  readonly since: string;
  readonly until: string | undefined;
  readonly status: string | undefined;
  readonly json: boolean;
}

const FOLLOW_EVERY_MS = 500;
const REPORT_EVERY_MS = 5_000;
/** A worker takes a job within seconds; after this time the command reports that none has. */
const UNTAKEN_AFTER_MS = 15_000;

/**
 * Requests the job `replay` for the platform, and follows it until it has ended or the person stops the command; then the job
 * continues. Returns the job's state. Throws CommandError.
 */
export async function replayWebhook(
  webhook: string,
  { json, status, since, until, ...options }: ReplayOptions,
): Promise<TaskState> {
  const { tenant } = options;
  if (!/^[0-9a-f-]{36}$/i.test(webhook))
    throw new CommandError(`${webhook} is not the id of a webhook (carrel webhooks list --tenant ${tenant})`);
  const state = REPLAYABLE_STATES.find((known) => known === status);
  if (status !== undefined && state === undefined)
    throw new CommandError(`--status must be one of ${REPLAYABLE_STATES.join(', ')}`);
  const range = rangeOf(since, until);
  const say = (line: string): void => void (json ? process.stderr : process.stdout).write(`${tenant}: ${line}\n`);
  return withTenant(options, async (access) => {
    const replay = { webhook: webhook.toLowerCase(), ...range, states: statesOf(state) };
    const { uuid } = await access.transaction((tx) => requestReplay(tx, access, replay));
    say(`job ${uuid} replays deliveries created from ${range.since} to ${range.until}. It continues when this command ends.`);
    const job = await follow(access, uuid, say);
    if (json) process.stdout.write(`${JSON.stringify({ tenant, id: uuid, ...fieldsOf(job) })}\n`);
    else say(lastLine(job, range));
    if (!job.endedAt)
      say(
        `follow it with carrel jobs show ${uuid} --tenant ${tenant}, end it with carrel jobs cancel ${uuid} --tenant ${tenant}`,
      );
    return job.state;
  });
}

/** Applies the rules of POST /webhooks/{id}/replays. */
async function requestReplay(tx: Sql, { slug, role }: TenantAccess, replay: ReplayArguments): Promise<TaskRow> {
  const { webhook, since } = replay;
  const [row] = await tx.query<{ active: boolean }>('SELECT active FROM webhooks WHERE uuid = $1', [webhook]);
  if (!row) throw new CommandError(`${slug} has no webhook ${webhook} (carrel webhooks list --tenant ${slug})`);
  if (!row.active)
    throw new CommandError(`webhook ${webhook} is not active. An administrator of the tenant, or its resource, enables it`);
  const until = await notAhead(tx, replay.until);
  const result = { webhook_id: webhook, since, until };
  return requestForPlatform(tx, role, REPLAY, { uuid: systemRandom.uuid(), arguments: { ...replay, until }, result });
}

/** Returns the job when it has ended, or when the person stops the command. */
async function follow({ transaction }: TenantAccess, uuid: string, say: (line: string) => void): Promise<TaskRow> {
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const begun = performance.now();
  let [reported, isMissed] = [begun, false];
  try {
    for (;;) {
      const job = await transaction((tx) => findTask(tx, uuid));
      if (!job)
        throw new CommandError(`job ${uuid} no longer exists: the tenant was deleted, or its data were restored meanwhile`);
      if (job.endedAt !== null || interrupted.signal.aborted) return job;
      const now = performance.now();
      if (job.startedAt === null && !isMissed && now - begun > UNTAKEN_AFTER_MS) {
        isMissed = true;
        say('no worker has taken the job yet: carrel doctor reports whether one is running');
      }
      if (job.startedAt !== null && now - reported > REPORT_EVERY_MS) {
        reported = now;
        say(`${job.done} of ${job.total} deliveries are due again`);
      }
      await sleep(FOLLOW_EVERY_MS, undefined, { signal: interrupted.signal }).catch(() => undefined);
    }
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

const fieldsOf = ({ state, done, total, errorCode, errorMessage }: TaskRow): object => ({
  state,
  done,
  total,
  error: errorCode === null ? null : { code: errorCode, message: errorMessage },
});

function lastLine(
  { state, done, total, errorMessage }: TaskRow,
  { since, until }: Pick<ReplayArguments, 'since' | 'until'>,
): string {
  const count = `${done} of ${total} deliveries from ${since} to ${until}`;
  if (state === 'succeeded') return `${count} were made due again.`;
  if (state === 'failed') return `the job failed: ${errorMessage ?? ''} ${count} were made due again.`;
  if (state === 'canceled') return `the job was canceled; ${count} were made due again.`;
  return `the job continues; ${count} were made due again so far.`;
}

/** Throws CommandError. */
function rangeOf(since: string, until: string | undefined): Pick<ReplayArguments, 'since' | 'until'> {
  const now = new Date().toISOString();
  const from = timeOf('--since', since);
  const named = until === undefined ? now : timeOf('--until', until);
  const to = named < now ? named : now;
  if (from >= to) throw new CommandError('--since must be before --until, and before now');
  if (Date.parse(from) < Date.now() - EVENT_RETENTION_DAYS * DAY_MS)
    throw new CommandError(`--since must be within the last ${EVENT_RETENTION_DAYS} days: older deliveries are deleted`);
  return { since: from, until: to };
}

function timeOf(option: string, text: string): string {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime()))
    throw new CommandError(`${option} is ${text}; write it as 2026-01-31T12:00:00Z`);
  return time.toISOString();
}
