import type { Sql } from '../../store/postgres/pool.ts';
import type { Attempt, Delivery } from './delivery-store.ts';
import type { Receiver } from './receiver.ts';
import { type Health, isSuccess } from './replies.policy.ts';
import { MINUTE_MS, DAY_MS } from '../../runtime/time.ts';

/** A webhook that has failed for this long is disabled (docs/design/events-and-jobs.md). */
const DISABLED_AFTER_MS = 5 * DAY_MS;
/** A change of health is recorded at once, unchanged health at most this often. */
const RECORDED_EVERY_MS = 5 * MINUTE_MS;

/** The row does not record a success that overlaps the recorded failure; the deliveries have it. */
const SUCCESS_SINCE = `EXISTS (
    SELECT FROM carrel.deliveries WHERE tenant = current_user AND endpoint = $1 AND state = 'delivered'
      AND (log->-1->>'at')::timestamptz > failing_since)`;
const IS_OLD = `NOT $4 AND failing_since <= $2::timestamptz - interval '${DISABLED_AFTER_MS} milliseconds'`;
const IS_OVER = `${IS_OLD} AND NOT ${SUCCESS_SINCE}`;

const SUCCEEDED = 'last_status_code BETWEEN 200 AND 299';

/** The newest deliveries of a webhook, which are searched for a later success. */
const SEARCHED_DELIVERIES = 100;

/** True if an attempt that began later was a success; the row does not record every success. */
const LATER_SUCCESS = `(${SUCCEEDED} AND last_delivery_at > $2) IS TRUE OR EXISTS (
    SELECT FROM (
      SELECT state, log FROM carrel.deliveries WHERE tenant = current_user AND endpoint = $1
      ORDER BY created_at DESC LIMIT ${SEARCHED_DELIVERIES}
    ) newest WHERE state = 'delivered' AND (log->-1->>'at')::timestamptz > $2)`;
const LATER_FAILURE = `(NOT (${SUCCEEDED}) IS TRUE AND last_delivery_at > $2) IS TRUE`;

/**
 * The row decides: only one of several deliveries that end at once records. A delivery that ends after the webhook was changed or
 * enabled again records nothing about an address that it has not tried. An attempt counts by the time when it began: of two that
 * overlap, the later one wins, whichever ends first.
 */
const RECORD = `
  UPDATE webhooks SET last_delivery_at = greatest(last_delivery_at, $2),
    last_status_code = CASE WHEN last_delivery_at > $2 THEN last_status_code ELSE $3 END,
    failing_since = CASE WHEN $4 THEN NULL WHEN ${IS_OLD} AND ${SUCCESS_SINCE} THEN $2 ELSE coalesce(failing_since, $2) END,
    disabled_reason = CASE WHEN $5 THEN 'the receiver answered 410 Gone'
      WHEN ${IS_OVER}
        THEN 'every delivery has failed since ' || to_char(failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      ELSE disabled_reason END,
    active = NOT ($5 OR coalesce(${IS_OVER}, false))
  WHERE uuid = $1 AND url = $6 AND active AND (
    CASE WHEN $4 THEN failing_since IS NOT NULL OR (${SUCCEEDED}) IS NOT TRUE ELSE failing_since IS NULL END
    OR $5 OR ${IS_OLD}
    OR last_delivery_at IS NULL OR last_delivery_at <= $2::timestamptz - interval '${RECORDED_EVERY_MS} milliseconds')
    AND CASE WHEN $4 THEN NOT (${LATER_FAILURE}) ELSE $5 OR NOT (${LATER_SUCCESS}) END
  RETURNING managed_ref AS "managedRef"`;

const NOTIFY_OPERATOR = `
  INSERT INTO carrel.webhook_health (tenant, endpoint, managed_ref) VALUES ($1, $2, $3)
  ON CONFLICT (tenant, endpoint) DO UPDATE SET managed_ref = excluded.managed_ref, noted_at = now()`;

/**
 * Records the receiver's health, in a transaction of the tenant's role: at once if it has changed, otherwise every 5 minutes. For
 * a webhook that a resource manages, the same transaction notifies the operator, in the worker's own role.
 */
export async function recordHealth(
  tx: Sql,
  { tenant, endpoint }: Delivery,
  { url }: Receiver,
  health: Health,
  attempt: Attempt,
): Promise<void> {
  const params = [endpoint, new Date(attempt.at), attempt.status_code, health === 'well', health === 'gone', url];
  const [recorded] = await tx.query<{ managedRef: string | null }>(RECORD, params);
  if (recorded?.managedRef == null) return;
  await tx.query('SET LOCAL ROLE NONE');
  await tx.query(NOTIFY_OPERATOR, [tenant, endpoint, recorded.managedRef]);
}

/** Decides by the row as it was before the attempt; false saves the transaction. */
export function isWorthRecording(
  { failingSince, lastDeliveryAt, lastStatusCode }: Receiver,
  health: Health,
  attempt: Attempt,
): boolean {
  const at = new Date(attempt.at).getTime();
  if (health === 'gone' || lastDeliveryAt === null || at - lastDeliveryAt.getTime() >= RECORDED_EVERY_MS) return true;
  if (health === 'well') return failingSince !== null || lastStatusCode === null || !isSuccess(lastStatusCode);
  return failingSince === null || at - failingSince.getTime() >= DISABLED_AFTER_MS;
}
