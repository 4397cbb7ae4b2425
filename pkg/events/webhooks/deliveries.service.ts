import { z } from 'zod';
import { type Page, page, pageRequest } from '../../api/paging.ts';
import { invalid, Problem } from '../../api/problem.ts';
import { NamedTime, type Uuid } from '../../api/schemas.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import { ForeignKeyViolation } from '../../store/postgres/errors.ts';
import type { Webhook } from '../../store/postgres/tables.ts';
import type { EventName } from '../catalogue.ts';
import type { WakeUps } from '../wake-ups.ts';
import {
  DELIVERY_SORT_FIELDS,
  type DeliveryQuery,
  type DeliveryRow,
  type DeliveryView,
  type DeliveryWithPayload,
  presentDelivery,
  type ReplayedRange,
  type ReplayRange,
  type TestEvent,
} from './deliveries.schema.ts';
import { testPayload } from './samples.ts';

/** Of a delivery `d` and its event `e`. */
const COLUMNS = `d.id, d.uuid, e.uuid AS "messageId", e.event, d.state, d.log, d.created_at AS "createdAt", d.ended_at AS "endedAt", d.due_at AS "dueAt"`;
const EVENT_OF = 'JOIN carrel.events e ON e.tenant = d.tenant AND e.id = d.event_id';

/** Of a webhook that is not there any more nothing is shown. */
const FIND = `
  SELECT ${COLUMNS}, e.payload FROM carrel.deliveries d ${EVENT_OF} JOIN webhooks w ON w.uuid = d.endpoint
  WHERE d.tenant = current_user AND d.endpoint = $1 AND d.uuid = $2`;

const REPLAY = `
  WITH original AS (
    SELECT d.event_id, d.endpoint, e.uuid AS "messageId", e.event, w.active
    FROM carrel.deliveries d ${EVENT_OF} JOIN webhooks w ON w.uuid = d.endpoint
    WHERE d.tenant = current_user AND d.endpoint = $1 AND d.uuid = $2
  ), d AS (
    INSERT INTO carrel.deliveries (event_id, endpoint) SELECT event_id, endpoint FROM original WHERE active RETURNING *
  )
  SELECT o.active, d.id, d.uuid, o."messageId", o.event, d.state, d.log, d.created_at AS "createdAt", d.ended_at AS "endedAt", d.due_at AS "dueAt"
  FROM original o LEFT JOIN d ON true`;

/** An event counts by its newest delivery to the endpoint: what has been replayed is not replayed again before that has ended. */
const REPLAY_RANGE = `
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

const TEST = `
  WITH e AS (INSERT INTO carrel.events (uuid, event, payload) VALUES ($2, $3, $4) RETURNING id, uuid, event),
  d AS (INSERT INTO carrel.deliveries (event_id, endpoint) SELECT id, $1 FROM e RETURNING *)
  SELECT ${COLUMNS} FROM d, e`;

/** Where a replay of a range goes on: its end, which stays the same, and the last delivery it looked at. */
const Cursor = z.tuple([NamedTime, NamedTime, z.int()]);

/**
 * What became of events on their way to one webhook, and sending them again (design: section 7).
 *
 * Invariants:
 * - A replay is a new delivery of the same event: same id, same bytes, attempts of its own.
 * - A replay of a range makes at most `limit` deliveries. Repeated, or racing with itself, it sends no event twice: an event whose newest
 *   delivery is under way is passed over.
 * - Nothing is sent to a webhook that is not active (`conflict`).
 */
export class Deliveries {
  readonly #db: Database;
  readonly #wakeUps: WakeUps;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: { db: Database; wakeUps: WakeUps; clock: Clock; random: Random }) {
    this.#db = deps.db;
    this.#wakeUps = deps.wakeUps;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /** One statement, two where the page is empty. Throws `not_found`. */
  async list(webhook: Uuid, query: DeliveryQuery): Promise<Page<DeliveryView>> {
    const order = { fields: DELIVERY_SORT_FIELDS as readonly ('created_at' | 'id')[], fallback: '-created_at', tieBreaker: 'id' } as const;
    const request = pageRequest(query, order);
    const [after, way] = request.sort[0]?.descending ? ['<', 'DESC'] : ['>', 'ASC'];
    const params: unknown[] = [webhook];
    const place = (value: unknown): string => `$${params.push(value)}`;
    const conditions = ['d.tenant = current_user', 'd.endpoint = $1'];
    if (query.status !== undefined) conditions.push(`d.state = ${place(query.status)}`);
    if (query.event !== undefined) conditions.push(`e.event = ${place(query.event)}`);
    if (query.since !== undefined) conditions.push(`d.created_at >= ${place(query.since)}`);
    if (query.until !== undefined) conditions.push(`d.created_at < ${place(query.until)}`);
    if (request.after)
      conditions.push(`(d.created_at, d.id) ${after} (${place(request.after[0])}::timestamptz, ${place(request.after[1])}::bigint)`);
    const rows = await this.#db.query<DeliveryRow>(
      `SELECT ${COLUMNS} FROM carrel.deliveries d ${EVENT_OF} JOIN webhooks w ON w.uuid = d.endpoint
       WHERE ${conditions.join(' AND ')} ORDER BY d.created_at ${way}, d.id ${way} LIMIT ${place(request.limit + 1)}`,
      params,
    );
    if (rows.length === 0 && (await this.#db.tables.webhooks.count({ uuid: webhook })) === 0) throw new Problem('not_found');
    return page(request, rows, presentDelivery, (row) => [row.createdAt.toISOString(), row.id]);
  }

  /** Throws `not_found`. */
  async get(webhook: Uuid, delivery: Uuid): Promise<DeliveryWithPayload> {
    const [row] = await this.#db.query<DeliveryRow & { payload: string }>(FIND, [webhook, delivery]);
    if (!row) throw new Problem('not_found');
    return { ...presentDelivery(row), payload: row.payload };
  }

  /** The new delivery. Throws `not_found`, `conflict`. */
  async replay(webhook: Uuid, delivery: Uuid): Promise<DeliveryView> {
    return this.#db.transaction(async (tx) => {
      const [row] = await unlessForgotten(tx.query<DeliveryRow & { active: boolean }>(REPLAY, [webhook, delivery]));
      if (!row) throw new Problem('not_found');
      requireActive(row);
      this.#wakeUps.after(tx);
      return presentDelivery(row);
    });
  }

  /** Throws `not_found`, `conflict`, `validation_failed` for a range that is none. */
  async replayRange(webhook: Uuid, { since, status, limit, ...range }: ReplayRange): Promise<ReplayedRange> {
    const [end, lastAt = null, lastId = null] =
      range.cursor === undefined ? [range.until ?? this.#clock.now().toISOString()] : readCursor(range.cursor);
    if (new Date(since) >= new Date(end)) throw invalid('since', 'must be before until');
    const states = status === undefined ? ['failed', 'canceled'] : [status];
    return this.#db.transaction(async (tx) => {
      requireActive(await lockWebhook(tx, webhook));
      const [last] = await unlessForgotten(
        tx.query<{ count: number; createdAt: Date; id: number }>(REPLAY_RANGE, [webhook, states, since, end, lastAt, lastId, limit]),
      );
      if (!last) return { replayed: 0, has_more: false, next_cursor: null };
      this.#wakeUps.after(tx);
      const cursor = last.count < limit ? null : writeCursor([end, last.createdAt.toISOString(), last.id]);
      return { replayed: last.count, has_more: cursor !== null, next_cursor: cursor };
    });
  }

  /** A delivery of a test to this webhook alone. Throws `not_found`, `conflict`, `validation_failed` for an event that it does not want. */
  async test(webhook: Uuid, wanted: TestEvent): Promise<DeliveryView> {
    return this.#db.transaction(async (tx) => {
      const row = await tx.webhooks.find({ uuid: webhook });
      if (!row) throw new Problem('not_found');
      requireActive(row);
      const event = wanted.event ?? row.events[0];
      if (event === undefined || !row.events.includes(event))
        throw invalid('event', `must be one of this webhook's: ${row.events.join(', ')}`);
      const payload = testPayload(event as EventName, this.#clock.now());
      const [delivery] = await tx.query<DeliveryRow>(TEST, [webhook, this.#random.uuid(), event, payload]);
      if (!delivery) throw new Problem('internal');
      this.#wakeUps.after(tx);
      return presentDelivery(delivery);
    });
  }
}

/** So that replays of one webhook's ranges take turns. */
async function lockWebhook(tx: Tx, uuid: Uuid): Promise<Webhook> {
  const webhook = await tx.webhooks.find({ uuid }, { lock: 'update' });
  if (!webhook) throw new Problem('not_found');
  return webhook;
}

function requireActive({ active }: { active: boolean }): void {
  if (!active) throw new Problem('conflict', 'This webhook is not active, so nothing is sent to it; set `active` to true first.');
}

/** The worker lets go of an event in the very moment that it is to be replayed. */
async function unlessForgotten<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ForeignKeyViolation
      ? new Problem('not_found', 'The event is older than events are kept.', { cause: error })
      : error;
  }
}

const writeCursor = (place: z.output<typeof Cursor>): string => Buffer.from(JSON.stringify(place)).toString('base64url');

function readCursor(text: string): z.output<typeof Cursor> {
  try {
    return Cursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch {
    throw invalid('cursor', 'is none that a replay gave; start again without it');
  }
}
