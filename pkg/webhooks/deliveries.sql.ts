import { listPage, type Page } from '../api/paging.ts';
import { integerKey, keyset, timeKey } from '../store/postgres/keyset.ts';
import { isDue } from '../store/postgres/leases.ts';
import { quoteLiteral, type Sql } from '../store/postgres/pool.ts';
import { DELIVERY_SORT_FIELDS, type DeliveryQuery, type DeliveryState, type DeliveryView } from './deliveries.schema.ts';
import { type DeliveryRow, presentDelivery } from './deliveries.view.ts';

/** The columns of a delivery `d` and its event `e`. */
const COLUMNS = `d.id, d.uuid, e.uuid AS "messageId", e.event, d.state, d.log, d.created_at AS "createdAt",
  d.ended_at AS "endedAt", d.due_at AS "dueAt"`;
const EVENT_OF = 'JOIN carrel.events e ON e.tenant = d.tenant AND e.id = d.event_id';

/** Omits deliveries of a deleted webhook. */
export const FIND = `
  SELECT ${COLUMNS}, e.payload FROM carrel.deliveries d ${EVENT_OF} JOIN webhooks w ON w.uuid = d.endpoint
  WHERE d.tenant = current_user AND d.endpoint = $1 AND d.uuid = $2`;

export const REPLAY = `
  WITH original AS (
    SELECT d.event_id, d.endpoint, e.uuid AS "messageId", e.event, w.active
    FROM carrel.deliveries d ${EVENT_OF} JOIN webhooks w ON w.uuid = d.endpoint
    WHERE d.tenant = current_user AND d.endpoint = $1 AND d.uuid = $2
  ), d AS (
    INSERT INTO carrel.deliveries (event_id, endpoint) SELECT event_id, endpoint FROM original WHERE active RETURNING *
  )
  SELECT o.active, d.id, d.uuid, o."messageId", o.event, d.state, d.log, d.created_at AS "createdAt",
    d.ended_at AS "endedAt", d.due_at AS "dueAt"
  FROM original o LEFT JOIN d ON true`;

/** An event counts by its newest delivery to the endpoint, so an event is not replayed again before its replay has ended. */
const REPLAYABLE = `
  FROM carrel.deliveries d
  WHERE d.tenant = current_user AND d.endpoint = $1 AND d.state <> 'pending' AND d.state = ANY ($2::text[])
    AND (d.created_at, d.id) > ($3::timestamptz, $4::bigint) AND d.created_at < $5
    AND NOT EXISTS (
      SELECT FROM carrel.deliveries n
      WHERE n.tenant = current_user AND n.event_id = d.event_id AND n.endpoint = $1 AND n.id > d.id)`;

const REPLAY_RANGE = `
  WITH chosen AS (
    SELECT d.event_id, d.created_at, d.id ${REPLAYABLE} ORDER BY d.created_at, d.id LIMIT $6
  ), replayed AS (
    INSERT INTO carrel.deliveries (event_id, endpoint) SELECT event_id, $1 FROM chosen ORDER BY created_at, id RETURNING id
  )
  SELECT (SELECT count(*) FROM replayed) AS count, c.created_at AS "createdAt", c.id
  FROM chosen c ORDER BY c.created_at DESC, c.id DESC LIMIT 1`;

/** The progress of a replay: the time (ISO 8601) and id of the last delivery that it has read. Ids begin at 1. */
export type Position = readonly [at: string, id: number];

/** Deliveries of a webhook after a position. */
interface ReplayedDeliveries {
  readonly webhook: string;
  readonly states: readonly DeliveryState[];
  readonly position: Position;
  /** Created before this time; ISO 8601. */
  readonly until: string;
}

/** Returns how many deliveries match. Runs one statement. */
export async function countReplayable(sql: Sql, { webhook, states, position, until }: ReplayedDeliveries): Promise<number> {
  const [row] = await sql.query<{ count: number }>(`SELECT count(*)::int AS count ${REPLAYABLE}`, [
    webhook,
    states,
    ...position,
    until,
  ]);
  return row?.count ?? 0;
}

/**
 * Creates new deliveries for the oldest `limit` of them. Returns their number and the position of the last, or undefined if none
 * was left. Runs one statement.
 */
export async function replayNext(
  sql: Sql,
  { webhook, states, position, until, limit }: ReplayedDeliveries & { readonly limit: number },
): Promise<{ readonly count: number; readonly position: Position } | undefined> {
  const params = [webhook, states, ...position, until, limit];
  const [last] = await sql.query<{ count: number; createdAt: Date; id: number }>(REPLAY_RANGE, params);
  return last && { count: last.count, position: [last.createdAt.toISOString(), last.id] };
}

/**
 * Returns how many deliveries of the webhook are due, at most `most`. `tenant` is its role; default: that of the transaction.
 * Runs one statement.
 */
export async function dueOf(sql: Sql, webhook: string, most: number, tenant?: string): Promise<number> {
  const whose = tenant === undefined ? 'current_user' : `${quoteLiteral(tenant)}::name`;
  const [row] = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (
       SELECT FROM carrel.deliveries d WHERE d.tenant = ${whose} AND d.endpoint = $1 AND ${isDue('d')} LIMIT $2) d`,
    [webhook, most],
  );
  return row?.count ?? 0;
}

export const TEST = `
  WITH e AS (INSERT INTO carrel.events (uuid, event, payload) VALUES ($2, $3, $4) RETURNING id, uuid, event),
  d AS (INSERT INTO carrel.deliveries (event_id, endpoint) SELECT id, $1 FROM e RETURNING *)
  SELECT ${COLUMNS} FROM d, e`;

const DELIVERIES = keyset<DeliveryRow, (typeof DELIVERY_SORT_FIELDS)[number] | 'id'>({
  keys: { created_at: timeKey('d.created_at', ({ createdAt }) => createdAt), id: integerKey('d.id', ({ id }) => id) },
  fields: DELIVERY_SORT_FIELDS,
  fallback: '-created_at',
  tieBreaker: 'id',
});

/** Returns the deliveries of one webhook; none if it does not exist. Runs one statement. */
export const listDeliveries = (sql: Sql, webhook: string, query: DeliveryQuery): Promise<Page<DeliveryView>> =>
  listPage(sql, query, {
    keyset: DELIVERIES,
    columns: COLUMNS,
    from: `carrel.deliveries d ${EVENT_OF} JOIN webhooks w ON w.uuid = d.endpoint`,
    where: (params) => [
      'd.tenant = current_user',
      `d.endpoint = ${params.add(webhook)}`,
      ...(query.status === undefined ? [] : [`d.state = ${params.add(query.status)}`]),
      ...(query.event === undefined ? [] : [`e.event = ${params.add(query.event)}`]),
      ...(query.since === undefined ? [] : [`d.created_at >= ${params.add(query.since)}`]),
      ...(query.until === undefined ? [] : [`d.created_at < ${params.add(query.until)}`]),
    ],
    present: presentDelivery,
  });
