import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Tx } from '../store/postgres/database.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { type EventData, type EventName, EVENTS } from './catalogue.ts';
import type { WorkerNotifier } from './worker-notifier.ts';

/** Events in one statement: deleting a person may delete very many files. */
const EVENTS_PER_STATEMENT = 1_000;

/** An event that no webhook is subscribed to is not written: nothing would ever read it. */
const EMIT = `
  WITH endpoint AS (
    SELECT uuid FROM webhooks WHERE active AND $1 = ANY (events)
  ), event AS (
    INSERT INTO carrel.events (uuid, event, payload)
    SELECT e.uuid, $1, e.payload FROM unnest($2::uuid[], $3::text[]) AS e (uuid, payload) WHERE EXISTS (SELECT FROM endpoint)
    RETURNING id
  ), delivery AS (
    INSERT INTO carrel.deliveries (event_id, endpoint) SELECT event.id, endpoint.uuid FROM event CROSS JOIN endpoint ORDER BY event.id RETURNING id
  )
  SELECT count(*) AS deliveries FROM delivery`;

/**
 * The outbox: an event and its deliveries are rows of the transaction that makes the change (docs/design/events-and-jobs.md, The outbox),
 * so they are there if, and only if, that commits. The payload is written once, as the exact bytes that are signed and sent.
 */
export class Events {
  readonly #notifier: WorkerNotifier;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: { notifier: WorkerNotifier; clock: Clock; random: Random }) {
    this.#notifier = deps.notifier;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /** One statement, whether a webhook is subscribed to the event or not. Throws ZodError where `data` is not of the catalogue's shape. */
  async emit<Name extends EventName>(tx: Tx, event: Name, data: EventData<Name>): Promise<void> {
    await this.emitAll(tx, event, [data]);
  }

  /** Several of one kind, in their order: one statement for each 1,000. */
  async emitAll<Name extends EventName>(tx: Tx, event: Name, all: readonly EventData<Name>[]): Promise<void> {
    const prepared: Sql = { query: (sql, params) => tx.prepared('events-emit', sql, params) };
    if (await writeEvents(prepared, { clock: this.#clock, random: this.#random }, event, all)) this.#notifier.notifyAfterCommit(tx);
  }
}

/**
 * The rows of some events and their deliveries, in a transaction of the tenant's role; what `Events` does for a server, and the worker by itself.
 * True: there are deliveries, so the worker is to be woken after the commit.
 */
export async function writeEvents<Name extends EventName>(
  tx: Sql,
  { clock, random }: { clock: Clock; random: Random },
  event: Name,
  all: readonly EventData<Name>[],
): Promise<boolean> {
  const timestamp = clock.now().toISOString();
  let deliveries = 0;
  for (let at = 0; at < all.length; at += EVENTS_PER_STATEMENT) {
    const payloads = all
      .slice(at, at + EVENTS_PER_STATEMENT)
      .map((data) => JSON.stringify({ event, timestamp, data: EVENTS[event].parse(data) }));
    const uuids = payloads.map(() => random.uuid());
    const [written] = await tx.query<{ deliveries: number }>(EMIT, [event, uuids, payloads]);
    deliveries += written?.deliveries ?? 0;
  }
  return deliveries > 0;
}
