import type { Sql } from '../store/postgres/pool.ts';
import type { Webhook } from '../store/postgres/tables.ts';
import { WEBHOOKS_MAX } from './webhooks.policy.ts';

/** A row of `webhooks` as Webhook; secrets and headers are sealed. */
export const WEBHOOK_COLUMNS = `id, uuid, url, events, secret, previous_secret AS "previousSecret", previous_secret_until AS "previousSecretUntil", headers,
  description, active, managed_by AS "managedBy", managed_ref AS "managedRef", created_by AS "createdBy", failing_since AS "failingSince",
  disabled_reason AS "disabledReason", last_delivery_at AS "lastDeliveryAt", last_status_code AS "lastStatusCode", revision,
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/**
 * Serializes creations in one tenant until the end of the transaction, by REST and by resources; events, deliveries and reads are not blocked.
 * `table`: qualified by a schema where `tx` has not the tenant's role.
 */
export async function lockForCreation(tx: Sql, table = 'webhooks'): Promise<void> {
  await tx.query(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
}

/** SQL, true where the tenant may have one more webhook; only under `lockForCreation` it stays so. */
export const hasRoom = (table = 'webhooks'): string => `(SELECT count(*) FROM ${table}) < ${WEBHOOKS_MAX}`;

/** A page of webhooks and one more row. `after`: the last row of the page before. */
export async function listWebhooks(
  sql: Sql,
  query: {
    event: string | undefined;
    active: boolean | undefined;
    descending: boolean;
    after: readonly unknown[] | undefined;
    limit: number;
  },
): Promise<Webhook[]> {
  const [beyond, direction] = query.descending ? ['<', 'DESC'] : ['>', 'ASC'];
  const [time = null, id = null] = query.after ?? [];
  return sql.query<Webhook>(
    `SELECT ${WEBHOOK_COLUMNS} FROM webhooks
     WHERE ($1::text IS NULL OR $1 = ANY (events)) AND ($2::boolean IS NULL OR active = $2)
       AND ($3::timestamptz IS NULL OR (created_at, id) ${beyond} ($3::timestamptz, $4::bigint))
     ORDER BY created_at ${direction}, id ${direction} LIMIT $5`,
    [query.event ?? null, query.active ?? null, time, id, query.limit + 1],
  );
}
