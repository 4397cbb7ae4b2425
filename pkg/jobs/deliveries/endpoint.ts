import type { Sql } from '../../store/postgres/pool.ts';
import type { TenantSeal } from '../tenants.ts';
import type { Attempt, Delivery } from './ledger.ts';

/** What is to be sent, and where to, as the rows say now; secrets are still sealed. */
export interface Message {
  /** The event's uuid. */
  readonly id: string;
  readonly payload: string;
  /** Null: the endpoint has been removed. */
  readonly url: string | null;
  readonly active: boolean | null;
  readonly secret: string;
  /** Null once the rotation's overlap is over. */
  readonly previousSecret: string | null;
  readonly headers: string | null;
  readonly failingSince: Date | null;
  /** When the row last told of a delivery, which is not every time. */
  readonly notedAt: Date | null;
}

/** An endpoint that has failed for so long is disabled (design: section 7). */
const DISABLED_AFTER_MS = 5 * 24 * 3_600_000;
/** A change of health is noted at once, else at most so often (design: Webhook status). */
const NOTED_EVERY_MS = 5 * 60_000;

/** In the tenant's own role. Null: the event is gone. */
export async function loadMessage(tx: Sql, { eventId, endpoint }: Delivery): Promise<Message | null> {
  const [message] = await tx.query<Message>(
    `SELECT e.uuid AS id, e.payload, w.url, w.active, w.secret, w.headers, w.failing_since AS "failingSince", w.last_delivery_at AS "notedAt",
       CASE WHEN w.previous_secret_until > now() THEN w.previous_secret END AS "previousSecret"
     FROM carrel.events e LEFT JOIN webhooks w ON w.uuid = $2 WHERE e.tenant = current_user AND e.id = $1`,
    [eventId, endpoint],
  );
  return message ?? null;
}

/** Secrets and headers in clear. Throws SealError. */
export function openMessage({ tenantId, sealer }: TenantSeal, message: Message, endpoint: string) {
  const open = (column: string, sealed: string): string => sealer.open(sealed, [tenantId, 'webhooks', endpoint, column]);
  const { secret, previousSecret, headers } = message;
  return {
    secret: open('secret', secret),
    previousSecret: previousSecret === null ? null : open('previous_secret', previousSecret),
    headers: headers === null ? {} : (JSON.parse(open('headers', headers)) as Record<string, string>),
  };
}

export type Health = 'well' | 'failing' | 'gone';

/** The statement that notes how the endpoint does, in the tenant's role; null where there is nothing to note. */
export function healthNote(
  message: Message,
  endpoint: string,
  health: Health,
  attempt: Attempt,
): { sql: string; params: unknown[] } | null {
  const at = new Date(attempt.at);
  const { failingSince, notedAt } = message;
  const disabled =
    health === 'gone'
      ? 'the receiver answered 410 Gone'
      : health === 'failing' && failingSince !== null && at.getTime() - failingSince.getTime() >= DISABLED_AFTER_MS
        ? `every delivery has failed since ${failingSince.toISOString()}`
        : null;
  const isChange = disabled !== null || (failingSince === null) !== (health === 'well');
  if (!isChange && notedAt !== null && at.getTime() - notedAt.getTime() < NOTED_EVERY_MS) return null;
  return {
    sql: `UPDATE webhooks SET last_delivery_at = $2, last_status_code = $3,
        failing_since = CASE WHEN $4::boolean THEN NULL ELSE coalesce(failing_since, $2) END,
        disabled_reason = coalesce($5, disabled_reason), active = active AND $5::text IS NULL
      WHERE uuid = $1`,
    params: [endpoint, at, attempt.status_code, health === 'well', disabled],
  };
}
