import { Events } from '../../../pkg/events/events.ts';
import { WorkerNotifier } from '../../../pkg/events/worker-notifier.ts';
import { syncManagedWebhook } from '../../../pkg/webhooks/managed-webhooks.ts';
import { WebhookSeal } from '../../../pkg/webhooks/sealing.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { TestTenant } from '../programs/server.ts';
import { range } from '../wait.ts';

export const ALL_EVENTS = ['file.created', 'file.updated', 'file.deleted', 'user.created', 'user.updated', 'grade.submitted'];

export interface WebhookOptions {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly secret?: string;
  readonly previousSecret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly active?: boolean;
}

/** Returns the seal by which the tenant's server seals and opens its webhooks. */
export const sealOf = ({ rows }: Pick<TestTenant, 'rows'>): WebhookSeal => new WebhookSeal(rows);

/** Writes an endpoint as the operator does, for the resource `test/<random>`. Returns its uuid. */
export async function addWebhook(tenant: Pick<TestTenant, 'rows'>, options: WebhookOptions = {}): Promise<string> {
  const {
    url = 'https://receiver.example.org/',
    events = ALL_EVENTS,
    secret = 'a secret',
    previousSecret,
    headers = {},
    active = true,
  } = options;
  const reference = `test/${systemRandom.hex(8)}`;
  const sync = (signedBy: string) =>
    syncManagedWebhook(tenant.rows, reference, { url, events, secret: signedBy, headers, active }, systemRandom);
  if (previousSecret !== undefined) await sync(previousSecret);
  return (await sync(secret)).uuid;
}

export interface WrittenEvent {
  readonly uuid: string;
  readonly payload: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
  readonly endpoints: readonly string[];
}

/** Returns the events of the tenant's outbox, oldest first. */
export async function writtenEvents(tenant: TestTenant): Promise<WrittenEvent[]> {
  const rows = await tenant.db.query<{ uuid: string; payload: string; endpoints: string[] }>(
    `SELECT e.uuid, e.payload, array_agg(d.endpoint::text ORDER BY d.id) AS endpoints
     FROM carrel.events e LEFT JOIN carrel.deliveries d ON d.tenant = e.tenant AND d.event_id = e.id GROUP BY e.tenant, e.id
     ORDER BY e.id`,
  );
  return rows.map((row) => ({ ...row, ...(JSON.parse(row.payload) as { event: string; data: Record<string, unknown> }) }));
}

/** `count` events of grade.submitted by the emitting API, a transaction each; gives their ids. */
export async function emitGrades(tenant: Pick<TestTenant, 'db' | 'redis'>, count: number, together = 1): Promise<string[]> {
  const time = { clock: systemClock, random: systemRandom };
  const events = new Events({ notifier: new WorkerNotifier({ redis: tenant.redis, log: silentLogger }), ...time });
  const ids = async (): Promise<string[]> =>
    (await tenant.db.query<{ uuid: string }>('SELECT uuid FROM carrel.events ORDER BY id')).map(({ uuid }) => uuid);
  const before = new Set(await ids());
  for (let score = 0; score < count; score += together) {
    await tenant.db.transaction(async (tx) => {
      const now = new Date().toISOString();
      for (const more of range(Math.min(together, count - score))) {
        const grade = {
          id: `${score + more}`,
          launch_id: 'l',
          user_id: 'u',
          score: score + more,
          score_maximum: 100,
          timestamp: now,
        };
        await events.emit(tx, 'grade.submitted', { ...grade, submitted_at: now });
      }
    });
  }
  return (await ids()).filter((id) => !before.has(id));
}
