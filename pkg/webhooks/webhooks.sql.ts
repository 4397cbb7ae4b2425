import { listPage, type Page } from '../api/paging.ts';
import { integerKey, keyset, timeKey } from '../store/postgres/keyset.ts';
import type { Sql } from '../store/postgres/pool.ts';
import type { Webhook } from '../store/postgres/tables.ts';
import { WEBHOOKS_MAX } from './webhooks.policy.ts';
import { WEBHOOK_SORT_FIELDS, type WebhookQuery, type WebhookView } from './webhooks.schema.ts';

/** A row of `webhooks` as Webhook; secrets and headers are sealed. */
const WEBHOOK_COLUMNS = `id, uuid, url, events, secret, previous_secret AS "previousSecret",
  previous_secret_until AS "previousSecretUntil", headers, description, active, managed_by AS "managedBy",
  managed_ref AS "managedRef", created_by AS "createdBy", failing_since AS "failingSince",
  disabled_reason AS "disabledReason", last_delivery_at AS "lastDeliveryAt", last_status_code AS "lastStatusCode", revision,
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/**
 * Serializes creations in one tenant until the end of the transaction, by REST and by resources. Events, deliveries and reads are
 * not blocked. `table` needs the schema if `tx` does not have the tenant's role.
 */
export async function lockForCreation(tx: Sql, table = 'webhooks'): Promise<void> {
  await tx.query(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
}

/** SQL that is true if the tenant may have another webhook. The result stays valid only under `lockForCreation`. */
export const hasRoom = (table = 'webhooks'): string => `(SELECT count(*) FROM ${table}) < ${WEBHOOKS_MAX}`;

const WEBHOOKS = keyset<Webhook, (typeof WEBHOOK_SORT_FIELDS)[number] | 'id'>({
  keys: { created_at: timeKey('created_at', ({ createdAt }) => createdAt), id: integerKey('id', ({ id }) => id) },
  fields: WEBHOOK_SORT_FIELDS,
  fallback: '-created_at',
  tieBreaker: 'id',
});

/** Returns a page of the tenant's webhooks. Runs one statement. */
export const listWebhooks = (sql: Sql, query: WebhookQuery, present: (row: Webhook) => WebhookView): Promise<Page<WebhookView>> =>
  listPage(sql, query, {
    keyset: WEBHOOKS,
    columns: WEBHOOK_COLUMNS,
    from: 'webhooks',
    where: (params) => [
      ...(query.event === undefined ? [] : [`${params.add(query.event)} = ANY (events)`]),
      ...(query.active === undefined ? [] : [`active = ${params.add(query.active)}`]),
    ],
    present,
  });
