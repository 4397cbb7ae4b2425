import { z } from 'zod';
import type { Page } from '../api/paging.ts';
import { invalid, Problem } from '../api/problem.ts';
import { NamedTime, type Uuid } from '../api/schemas.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Database, Tx } from '../store/postgres/database.ts';
import { ForeignKeyViolation } from '../store/postgres/errors.ts';
import type { Webhook } from '../store/postgres/tables.ts';
import type { EventName } from '../events/catalogue.ts';
import type { WorkerNotifier } from '../events/worker-notifier.ts';
import { requireActive } from './deliveries.policy.ts';
import {
  type DeliveryQuery,
  type DeliveryView,
  type DeliveryWithPayload,
  type ReplayedRange,
  type ReplayRange,
  statesOf,
  type TestEvent,
} from './deliveries.schema.ts';
import { FIND, listDeliveries, REPLAY, replayNext, TEST } from './deliveries.sql.ts';
import { type DeliveryRow, presentDelivery } from './deliveries.view.ts';
import type { WebhookStatistics } from './statistics/statistics.schema.ts';
import { statisticsOf } from './statistics/statistics.ts';
import { testPayload } from './test-payload.ts';

/** The position of a replay of a range: the range's end, which stays the same, and the last delivery that was read. */
const Cursor = z.tuple([NamedTime, NamedTime, z.int()]);

/**
 * Lists the deliveries of a webhook and replays events (docs/design/events-and-jobs.md).
 *
 * Invariants:
 * - A replay is a new delivery of the same event: same id, same bytes, attempts of its own.
 * - A replay of a range makes at most `limit` deliveries. Even if it is repeated, or races with itself, it sends no event twice:
 *   it skips an event whose newest delivery is pending.
 * - Nothing is sent to an inactive webhook (`conflict`).
 */
export class Deliveries {
  readonly #db: Database;
  readonly #notifier: WorkerNotifier;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: { db: Database; notifier: WorkerNotifier; clock: Clock; random: Random }) {
    this.#db = deps.db;
    this.#notifier = deps.notifier;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /** Runs one statement, or two if the page is empty. Throws `not_found`. */
  async list(webhook: Uuid, query: DeliveryQuery): Promise<Page<DeliveryView>> {
    const found = await listDeliveries(this.#db, webhook, query);
    if (found.data.length === 0 && (await this.#db.tables.webhooks.count({ uuid: webhook })) === 0)
      throw new Problem('not_found');
    return found;
  }

  /** Throws `not_found`. */
  async get(webhook: Uuid, delivery: Uuid): Promise<DeliveryWithPayload> {
    const [row] = await this.#db.query<DeliveryRow & { payload: string }>(FIND, [webhook, delivery]);
    if (!row) throw new Problem('not_found');
    return { ...presentDelivery(row), payload: row.payload };
  }

  /** Runs one statement. Throws `not_found`. */
  async statistics(webhook: Uuid): Promise<WebhookStatistics> {
    return statisticsOf(this.#db, webhook);
  }

  /** Returns the new delivery. Throws `not_found`, `conflict`. */
  async replay(webhook: Uuid, delivery: Uuid): Promise<DeliveryView> {
    return this.#db.transaction(async (tx) => {
      const [row] = await unlessExpired(tx.query<DeliveryRow & { active: boolean }>(REPLAY, [webhook, delivery]));
      if (!row) throw new Problem('not_found');
      requireActive(row);
      this.#notifier.notifyAfterCommit(tx);
      return presentDelivery(row);
    });
  }

  /** Throws `not_found`, `conflict`, `validation_failed` for an empty range. */
  async replayRange(webhook: Uuid, { since, status, limit, ...range }: ReplayRange): Promise<ReplayedRange> {
    const [until, ...position] =
      range.cursor === undefined
        ? ([range.until ?? this.#clock.now().toISOString(), since, 0] as const)
        : readCursor(range.cursor);
    if (new Date(since) >= new Date(until)) throw invalid('since', 'must be before until');
    return this.#db.transaction(async (tx) => {
      requireActive(await lockWebhook(tx, webhook));
      const last = await unlessExpired(replayNext(tx, { webhook, states: statesOf(status), position, until, limit }));
      if (!last) return { replayed: 0, has_more: false, next_cursor: null };
      this.#notifier.notifyAfterCommit(tx);
      const cursor = last.count < limit ? null : writeCursor([until, ...last.position]);
      return { replayed: last.count, has_more: cursor !== null, next_cursor: cursor };
    });
  }

  /**
   * Delivers a test event to this webhook only. Throws `not_found`, `conflict`, `validation_failed` for an event that it is not
   * subscribed to.
   */
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
      this.#notifier.notifyAfterCommit(tx);
      return presentDelivery(delivery);
    });
  }
}

/** Locks the webhook, so that replays of its ranges take turns. */
async function lockWebhook(tx: Tx, uuid: Uuid): Promise<Webhook> {
  const webhook = await tx.webhooks.find({ uuid }, { lock: 'update' });
  if (!webhook) throw new Problem('not_found');
  return webhook;
}

/** The worker deletes expired events, so an event may disappear while it is being replayed. */
async function unlessExpired<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ForeignKeyViolation
      ? new Problem('not_found', 'The event has expired: events are kept for 30 days.', { cause: error })
      : error;
  }
}

const writeCursor = (position: z.output<typeof Cursor>): string => Buffer.from(JSON.stringify(position)).toString('base64url');

function readCursor(text: string): z.output<typeof Cursor> {
  try {
    return Cursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch {
    throw invalid('cursor', 'is not a cursor returned by replay; omit it to start over');
  }
}
