import { countReplayable, dueOf, type Position, replayNext } from '../../webhooks/deliveries.sql.ts';
import { REPLAYABLE_STATES, statesOf } from '../../webhooks/deliveries.schema.ts';
import { DUE_MAX, LOOK_EVERY_MS } from '../../webhooks/replays/replay-pace.ts';
import { systemClock } from '../../runtime/clock.ts';
import { quoteIdentifier } from '../../store/postgres/pool.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { LocalError } from '../errors.ts';
import { withInstallation } from '../installation-access.ts';
import { printRows } from '../rows.ts';

interface Options {
  readonly stateDirectory: string;
  readonly env: NodeJS.ProcessEnv;
  /** A slug. */
  readonly tenant: string;
}

interface WebhookRow extends Readonly<Record<string, string | number | boolean | null>> {
  readonly id: string;
  readonly url: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly disabled_reason: string | null;
  readonly due: number;
}

/** Prints the webhooks of a tenant, with how many deliveries of each are due. */
export async function listWebhooks({ tenant, json, ...options }: Options & { readonly json: boolean }): Promise<void> {
  await withInstallation(options, async (access) => {
    const pool = access.shardOf(await access.tenant(tenant));
    const role = tenantRole(tenant);
    const rows = await pool.query<WebhookRow>(
      `SELECT w.uuid::text AS id, w.url, w.active, to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS failing_since, w.disabled_reason,
         (SELECT count(*)::int FROM carrel.deliveries d WHERE d.tenant = $1 AND d.endpoint = w.uuid AND d.due_at <= now()) AS due
       FROM ${quoteIdentifier(role)}.webhooks w ORDER BY w.created_at, w.id`,
      [role],
    );
    printRows(rows, ['id', 'url', 'active', 'failing_since', 'disabled_reason', 'due'], json);
    if (json) return;
    const failing = rows.filter((row) => !row.active || row.failing_since !== null).length;
    process.stdout.write(
      `${tenant} has ${rows.length} ${rows.length === 1 ? 'webhook' : 'webhooks'}; ${failing} of them failing or not active.\n`,
    );
  });
}

export interface ReplayOptions extends Options {
  readonly since: string;
  readonly until: string | undefined;
  readonly status: string | undefined;
}

/** Delivers again what lies in a time, as the job `replay` does, until it is done or this program ends. Throws LocalError. */
export async function replayWebhook(webhook: string, { tenant, status, ...options }: ReplayOptions): Promise<void> {
  if (!/^[0-9a-f-]{36}$/i.test(webhook))
    throw new LocalError(`${webhook} is not the id of a webhook (carrel webhooks list --tenant ${tenant})`);
  const state = REPLAYABLE_STATES.find((known) => known === status);
  if (status !== undefined && state === undefined) throw new LocalError(`--status is one of ${REPLAYABLE_STATES.join(', ')}`);
  const [since, until] = [
    timeOf('--since', options.since),
    options.until === undefined ? new Date().toISOString() : timeOf('--until', options.until),
  ];
  if (since >= until) throw new LocalError('--since must be before --until');
  await withInstallation(options, async (access) => {
    const pool = access.shardOf(await access.tenant(tenant));
    const role = tenantRole(tenant);
    const range = { webhook, states: statesOf(state), until, tenant: role };
    const total = await countReplayable(pool, { ...range, position: [since, 0] });
    let [position, made]: [Position, number] = [[since, 0], 0];
    for (let isOver = false; !isOver;) {
      const step = await pool.transaction(async (tx) => {
        const [row] = await tx.query<{ active: boolean }>(
          `SELECT active FROM ${quoteIdentifier(role)}.webhooks WHERE uuid = $1 FOR UPDATE`,
          [webhook],
        );
        if (!row) throw new LocalError(`${tenant} has no webhook ${webhook}`);
        if (!row.active)
          throw new LocalError(
            `webhook ${webhook} is not active: ${made} deliveries were made. Its administrator, or its resource, enables it`,
          );
        const slots = DUE_MAX - (await dueOf(tx, webhook, DUE_MAX, role));
        return slots <= 0 ? 'full' : await replayNext(tx, { ...range, position, limit: slots });
      });
      if (step === undefined) isOver = true;
      else if (step !== 'full') [position, made] = [step.position, made + step.count];
      if (!isOver) await systemClock.sleep(LOOK_EVERY_MS);
    }
    process.stdout.write(`${tenant}: ${made} of ${total} deliveries of ${since} to ${until} were made due again.\n`);
  });
}

function timeOf(option: string, text: string): string {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime()))
    throw new LocalError(`${option} is ${text}; write it as 2026-01-31T12:00:00Z`);
  return time.toISOString();
}
