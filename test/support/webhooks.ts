import { systemRandom } from '../../pkg/runtime/random.ts';
import { parseSealingKeys, Sealer, tenantDataKey } from '../../pkg/runtime/sealing.ts';
import type { TestTenant } from './server.ts';

export const ALL_EVENTS = ['file.created', 'file.updated', 'file.deleted', 'user.created', 'user.updated', 'grade.submitted'];

export interface WebhookOptions {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly secret?: string;
  readonly previousSecret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly active?: boolean;
  /** The id that the registry knows the tenant by; default the server's own. */
  readonly tenantId?: string;
  /** CARREL_PLATFORM_KEYS of the worker that is going to deliver. */
  readonly platformKeys?: string;
}

/** An endpoint as the operator writes one; gives its uuid. */
export async function addWebhook(tenant: TestTenant, options: WebhookOptions = {}): Promise<string> {
  const uuid = systemRandom.uuid();
  const tenantId = options.tenantId ?? tenant.tenantId;
  const { secret = 'a secret', previousSecret, headers } = options;
  const keys = options.platformKeys === undefined ? [{ id: 'none', key: systemRandom.bytes(32) }] : parseSealingKeys(options.platformKeys);
  const sealer = new Sealer(
    keys.map((key) => tenantDataKey(key, tenantId)),
    systemRandom,
  );
  const seal = (column: string, plain: string): string => sealer.seal(plain, [tenantId, 'webhooks', uuid, column]);
  await tenant.db.tables.webhooks.insert({
    uuid,
    url: options.url ?? 'https://receiver.example.org/',
    events: [...(options.events ?? ALL_EVENTS)],
    secret: seal('secret', secret),
    previousSecret: previousSecret === undefined ? null : seal('previous_secret', previousSecret),
    previousSecretUntil: previousSecret === undefined ? null : new Date(Date.now() + 3_600_000),
    headers: headers === undefined ? null : seal('headers', JSON.stringify(headers)),
    active: options.active ?? true,
  });
  return uuid;
}

export interface WrittenEvent {
  readonly uuid: string;
  readonly payload: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
  readonly endpoints: readonly string[];
}

/** What lies in the tenant's outbox, oldest first. */
export async function writtenEvents(tenant: TestTenant): Promise<WrittenEvent[]> {
  const rows = await tenant.db.query<{ uuid: string; payload: string; endpoints: string[] }>(
    `SELECT e.uuid, e.payload, array_agg(d.endpoint::text ORDER BY d.id) AS endpoints
     FROM carrel.events e LEFT JOIN carrel.deliveries d ON d.tenant = e.tenant AND d.event_id = e.id GROUP BY e.tenant, e.id ORDER BY e.id`,
  );
  return rows.map((row) => ({ ...row, ...(JSON.parse(row.payload) as { event: string; data: Record<string, unknown> }) }));
}
