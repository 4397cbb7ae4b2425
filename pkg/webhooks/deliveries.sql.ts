import type { EventName } from '../events/catalogue.ts';
import type { Sql } from '../store/postgres/pool.ts';
import type { DeliveryState, DeliveryView } from './deliveries.schema.ts';

export interface DeliveryRow {
  readonly id: number;
  readonly uuid: string;
  readonly messageId: string;
  readonly event: EventName;
  readonly state: DeliveryState;
  readonly log: DeliveryView['attempts'];
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly dueAt: Date | null;
}

/** Of a delivery `d` and its event `e`. */
const COLUMNS = `d.id, d.uuid, e.uuid AS "messageId", e.event, d.state, d.log, d.created_at AS "createdAt", d.ended_at AS "endedAt", d.due_at AS "dueAt"`;
const EVENT_OF = 'JOIN carrel.events e ON e.tenant = d.tenant AND e.id = d.event_id';

/** Deliveries of a deleted webhook are not shown. */
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
  SELECT o.active, d.id, d.uuid, o."messageId", o.event, d.state, d.log, d.created_at AS "createdAt", d.ended_at AS "endedAt", d.due_at AS "dueAt"
  FROM original o LEFT JOIN d ON true`;

/** An event counts by its newest delivery to the endpoint, so an event is not replayed again before its replay has ended. */
export const REPLAY_RANGE = `
  WITH chosen AS (
    SELECT d.event_id, d.created_at, d.id FROM carrel.deliveries d
    WHERE d.tenant = current_user AND d.endpoint = $1 AND d.state <> 'pending' AND d.state = ANY ($2::text[])
      AND d.created_at >= $3 AND d.created_at < $4 AND ($5::timestamptz IS NULL OR (d.created_at, d.id) > ($5::timestamptz, $6::bigint))
      AND NOT EXISTS (
        SELECT FROM carrel.deliveries n WHERE n.tenant = current_user AND n.event_id = d.event_id AND n.endpoint = $1 AND n.id > d.id)
    ORDER BY d.created_at, d.id LIMIT $7
  ), replayed AS (
    INSERT INTO carrel.deliveries (event_id, endpoint) SELECT event_id, $1 FROM chosen ORDER BY created_at, id RETURNING id
  )
  SELECT (SELECT count(*) FROM replayed) AS count, c.created_at AS "createdAt", c.id FROM chosen c ORDER BY c.created_at DESC, c.id DESC LIMIT 1`;

export const TEST = `
  WITH e AS (INSERT INTO carrel.events (uuid, event, payload) VALUES ($2, $3, $4) RETURNING id, uuid, event),
  d AS (INSERT INTO carrel.deliveries (event_id, endpoint) SELECT id, $1 FROM e RETURNING *)
  SELECT ${COLUMNS} FROM d, e`;

interface ListQuery {
  readonly status?: string | undefined;
  readonly event?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly descending: boolean;
  readonly after: readonly unknown[] | undefined;
  readonly limit: number;
}

/** A page of a webhook's deliveries and one more row. `after`: time and id of the last row of the page before. */
export async function listDeliveries(sql: Sql, webhook: string, query: ListQuery): Promise<DeliveryRow[]> {
  const [beyond, direction] = query.descending ? ['<', 'DESC'] : ['>', 'ASC'];
  const params: unknown[] = [webhook];
  const parameter = (value: unknown): string => `$${params.push(value)}`;
  const conditions = ['d.tenant = current_user', 'd.endpoint = $1'];
  if (query.status !== undefined) conditions.push(`d.state = ${parameter(query.status)}`);
  if (query.event !== undefined) conditions.push(`e.event = ${parameter(query.event)}`);
  if (query.since !== undefined) conditions.push(`d.created_at >= ${parameter(query.since)}`);
  if (query.until !== undefined) conditions.push(`d.created_at < ${parameter(query.until)}`);
  if (query.after) {
    const [time, id] = query.after.map(parameter);
    conditions.push(`(d.created_at, d.id) ${beyond} (${time}::timestamptz, ${id}::bigint)`);
  }
  return sql.query<DeliveryRow>(
    `SELECT ${COLUMNS} FROM carrel.deliveries d ${EVENT_OF} JOIN webhooks w ON w.uuid = d.endpoint
     WHERE ${conditions.join(' AND ')} ORDER BY d.created_at ${direction}, d.id ${direction} LIMIT ${parameter(query.limit + 1)}`,
    params,
  );
}
