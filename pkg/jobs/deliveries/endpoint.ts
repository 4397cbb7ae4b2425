import type { WebhookSeal } from '../../events/webhooks/secrets.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { Attempt, Delivery } from './ledger.ts';

/** Where a delivery goes, as the row said; secrets are still sealed. */
export interface Endpoint {
  /** By Postgres' clock. */
  readonly readAt: Date;
  readonly url: string;
  readonly active: boolean;
  readonly secret: string;
  /** Null once the rotation's overlap is over. */
  readonly previousSecret: string | null;
  readonly headers: string | null;
  readonly failingSince: Date | null;
  /** When the row last told of a delivery, which is not every time, and its answer. */
  readonly notedAt: Date | null;
  readonly notedStatus: number | null;
}

/** An endpoint that has failed for so long is disabled (design: section 7). */
const DISABLED_AFTER_MS = 5 * 24 * 3_600_000;
/** A change of health is noted at once, else at most so often (design: Webhook status). */
const NOTED_EVERY_MS = 5 * 60_000;

/** In the tenant's own role. Null: the endpoint has been removed. */
export async function loadEndpoint(tx: Sql, endpoint: string): Promise<Endpoint | null> {
  const [row] = await tx.query<Endpoint>(
    `SELECT now() AS "readAt", url, active, secret, headers, failing_since AS "failingSince", last_delivery_at AS "notedAt", last_status_code AS "notedStatus",
       CASE WHEN previous_secret_until > now() THEN previous_secret END AS "previousSecret"
     FROM webhooks WHERE uuid = $1`,
    [endpoint],
  );
  return row ?? null;
}

/** Secrets and headers in clear. Throws SealError. */
export function openEndpoint(seal: WebhookSeal, { secret, previousSecret, headers }: Endpoint, endpoint: string) {
  return {
    secret: seal.open(endpoint, 'secret', secret),
    previousSecret: previousSecret === null ? null : seal.open(endpoint, 'previous_secret', previousSecret),
    headers: seal.openHeaders(endpoint, headers),
  };
}

export type Health = 'well' | 'failing' | 'gone';

/** A success is not noted when it overlaps the failure that is: the deliveries, which are kept longer, have it. */
const SUCCESS_SINCE = `EXISTS (
    SELECT FROM carrel.deliveries WHERE tenant = current_user AND endpoint = $1 AND state = 'delivered'
      AND (log->-1->>'at')::timestamptz > failing_since)`;
const IS_OLD = `NOT $4 AND failing_since <= $2::timestamptz - interval '${DISABLED_AFTER_MS} milliseconds'`;
const IS_OVER = `${IS_OLD} AND NOT ${SUCCESS_SINCE}`;

const SUCCEEDED = 'last_status_code BETWEEN 200 AND 299';

/** Deliveries of an endpoint that are looked through for a later success, the newest ones. */
const LOOKED_THROUGH = 100;

/** What began later was a success: not every one is noted in the row. */
const LATER_SUCCESS = `(${SUCCEEDED} AND last_delivery_at > $2) IS TRUE OR EXISTS (
    SELECT FROM (
      SELECT state, log FROM carrel.deliveries WHERE tenant = current_user AND endpoint = $1 ORDER BY created_at DESC LIMIT ${LOOKED_THROUGH}
    ) newest WHERE state = 'delivered' AND (log->-1->>'at')::timestamptz > $2)`;
const LATER_FAILURE = `(NOT (${SUCCEEDED}) IS TRUE AND last_delivery_at > $2) IS TRUE`;

/**
 * The row decides, so that of deliveries that end at once only one notes, and one that ends after the endpoint was changed or enabled anew
 * says nothing of what it has not tried. An attempt speaks from when it began: of two that overlap the later one stands, whichever ends first.
 */
const NOTE = `
  UPDATE webhooks SET last_delivery_at = greatest(last_delivery_at, $2),
    last_status_code = CASE WHEN last_delivery_at > $2 THEN last_status_code ELSE $3 END,
    failing_since = CASE WHEN $4 THEN NULL WHEN ${IS_OLD} AND ${SUCCESS_SINCE} THEN $2 ELSE coalesce(failing_since, $2) END,
    disabled_reason = CASE WHEN $5 THEN 'the receiver answered 410 Gone'
      WHEN ${IS_OVER} THEN 'every delivery has failed since ' || to_char(failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      ELSE disabled_reason END,
    active = NOT ($5 OR coalesce(${IS_OVER}, false))
  WHERE uuid = $1 AND url = $6 AND active AND (
    CASE WHEN $4 THEN failing_since IS NOT NULL OR (${SUCCEEDED}) IS NOT TRUE ELSE failing_since IS NULL END
    OR $5 OR ${IS_OLD}
    OR last_delivery_at IS NULL OR last_delivery_at <= $2::timestamptz - interval '${NOTED_EVERY_MS} milliseconds')
    AND CASE WHEN $4 THEN NOT (${LATER_FAILURE}) ELSE $5 OR NOT (${LATER_SUCCESS}) END
  RETURNING managed_ref AS "managedRef"`;

const TELL_OPERATOR = `
  INSERT INTO carrel.webhook_health (tenant, endpoint, managed_ref) VALUES ($1, $2, $3)
  ON CONFLICT (tenant, endpoint) DO UPDATE SET managed_ref = excluded.managed_ref, noted_at = now()`;

/**
 * Notes how the endpoint does, in a transaction of the tenant's role: at once when its health has changed, else every 5 minutes.
 * Of one that a Kubernetes resource made the operator is told in the same transaction, as the worker.
 */
export async function noteHealth(
  tx: Sql,
  { tenant, endpoint }: Delivery,
  { url }: Endpoint,
  health: Health,
  attempt: Attempt,
): Promise<void> {
  const params = [endpoint, new Date(attempt.at), attempt.status_code, health === 'well', health === 'gone', url];
  const [noted] = await tx.query<{ managedRef: string | null }>(NOTE, params);
  if (noted?.managedRef == null) return;
  await tx.query('SET LOCAL ROLE NONE');
  await tx.query(TELL_OPERATOR, [tenant, endpoint, noted.managedRef]);
}

/** By what the row said before the attempt: false saves the transaction. */
export function hasNews({ failingSince, notedAt, notedStatus }: Endpoint, health: Health, attempt: Attempt): boolean {
  const at = new Date(attempt.at).getTime();
  if (health === 'gone' || notedAt === null || at - notedAt.getTime() >= NOTED_EVERY_MS) return true;
  if (health === 'well') return failingSince !== null || notedStatus === null || !isSuccess(notedStatus);
  return failingSince === null || at - failingSince.getTime() >= DISABLED_AFTER_MS;
}

/** Any 2xx is a yes (docs/receive-webhooks.md). */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300;
