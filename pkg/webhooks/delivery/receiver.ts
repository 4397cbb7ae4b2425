import type { Sql } from '../../store/postgres/pool.ts';
import type { Webhook } from '../../store/postgres/tables.ts';
import type { WebhookSeal } from '../sealing.ts';
import { signingKeys } from './signature.ts';

/** The receiver of a delivery: the webhook, as its row was at `readAt`, by Postgres' clock. Secrets and headers are sealed. */
export type Receiver = { readonly readAt: Date } & Pick<
  Webhook,
  | 'uuid'
  | 'url'
  | 'active'
  | 'secret'
  | 'previousSecret'
  | 'previousSecretUntil'
  | 'headers'
  | 'failingSince'
  | 'lastDeliveryAt'
  | 'lastStatusCode'
>;

/**
 * Contains only columns that a delivery needs: the worker may be newer than the tenant's schema
 * (docs/design/resources-and-reconciliation.md).
 */
const COLUMNS = `uuid, url, active, secret, previous_secret AS "previousSecret",
  previous_secret_until AS "previousSecretUntil", headers,
  failing_since AS "failingSince", last_delivery_at AS "lastDeliveryAt", last_status_code AS "lastStatusCode"`;

/** Reads the webhook in the tenant's own role. Returns null if it has been deleted. */
export async function loadReceiver(tx: Sql, endpoint: string): Promise<Receiver | null> {
  const [row] = await tx.query<Receiver>(`SELECT now() AS "readAt", ${COLUMNS} FROM webhooks WHERE uuid = $1`, [endpoint]);
  return row ?? null;
}

/**
 * Returns the keys that sign, with the previous secret only while it overlaps, and the headers in clear. Their names are in lower
 * case, so that a webhook's own header cannot duplicate one of the delivery's. Throws SealError.
 */
export function openReceiver(
  seal: WebhookSeal,
  { uuid, readAt, secret, previousSecret, previousSecretUntil, headers }: Receiver,
) {
  const overlaps = previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > readAt;
  return {
    keys: signingKeys(seal.open(uuid, 'secret', secret), overlaps ? seal.open(uuid, 'previous_secret', previousSecret) : null),
    headers: lowerCased(seal.openHeaders(uuid, headers)),
  };
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
