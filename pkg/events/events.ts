import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { endSpan, inSpan, type SpanFacts, startSpan, traceparentOf } from '../runtime/traces.ts';
import type { Tx } from '../store/postgres/database.ts';
import { type EventData, type EventName, payloadOf } from './catalogue.ts';
import type { WorkerNotifier } from './worker-notifier.ts';

/** The most events in one statement: deleting a person may delete very many files. */
const EVENTS_PER_STATEMENT = 1_000;

/**
 * Returns common table expressions that write the events of `source` (rows of uuid and payload, and `more` columns) and their
 * deliveries; `delivery` returns the deliveries. An event without a subscribed webhook is not written: nothing would ever read
 * it.
 */
const eventRows = (event: string, source: string, more: '' | ', traceparent' = ''): string => `
  endpoint AS (
    SELECT uuid FROM webhooks WHERE active AND ${event} = ANY (events)
  ), event AS (
    INSERT INTO carrel.events (uuid, event, payload${more})
    SELECT e.uuid, ${event}, e.payload${more} FROM ${source} AS e (uuid, payload${more}) WHERE EXISTS (SELECT FROM endpoint)
    RETURNING id
  ), delivery AS (
    INSERT INTO carrel.deliveries (event_id, endpoint)
    SELECT event.id, endpoint.uuid FROM event CROSS JOIN endpoint ORDER BY event.id RETURNING id
  )`;

const EMITTED = '(SELECT u.uuid, u.payload, $4::text FROM unnest($2::uuid[], $3::text[]) AS u (uuid, payload))';
const EMIT = `WITH ${eventRows('$1', EMITTED, ', traceparent')} SELECT count(*) AS deliveries FROM delivery`;

/** The span in which the event enters the outbox. The worker's spans are below it. */
const sending = (event: EventName): [name: string, facts: SpanFacts] => [
  `send ${event}`,
  {
    kind: 'producer',
    attributes: { 'messaging.system': 'carrel', 'messaging.operation.type': 'send', 'messaging.destination.name': event },
  },
];

/** Formats a time as in JSON: ISO 8601 in UTC with milliseconds. */
const isoOf = (time: string): string => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A file.created event whose time only the statement that creates the file knows: the payload before and after that time. */
export interface FileCreatedEvent {
  readonly uuid: string;
  readonly head: string;
  readonly tail: string;
  /** The span below which the event is delivered; null: none. */
  readonly traceparent: string | null;
}

/**
 * For a statement that creates files: `eventRows` for rows of `source`, which have the columns event_uuid, event_head,
 * event_tail, event_traceparent of a FileCreatedEvent, and created_at.
 */
export const fileCreatedRows = (source: string): string =>
  eventRows(
    `'file.created'`,
    `(SELECT s.event_uuid, s.event_head || ${isoOf('s.created_at')} || s.event_tail, s.event_traceparent FROM ${source} s)`,
    ', traceparent',
  );

/**
 * For a statement that creates or changes many files: writes an event for each row of `source`. `fields` are the fields of `data`
 * in order, each an expression of the row in SQL that returns JSON. `timestamp` is a parameter. Returns common table expressions;
 * `delivery` has the deliveries.
 */
export const fileEventRows = (
  event: 'file.created' | 'file.updated' | 'file.deleted',
  timestamp: string,
  { source, fields }: { readonly source: string; readonly fields: readonly (readonly [name: string, json: string])[] },
): string => {
  const data = fields.map(([name, json]) => `'"${name}":' || ${json}`).join(` || ',' || `);
  const at = isoOf(`${timestamp}::timestamptz`);
  const payload = `'{"event":"${event}","timestamp":"' || ${at} || '","data":{' || ${data} || '}}'`;
  return eventRows(`'${event}'`, `(SELECT gen_random_uuid(), ${payload} FROM ${source})`);
};

/** Returns SQL for the JSON of a text, a uuid and a time; null values become `null`. */
export const jsonOf = {
  text: (sql: string): string => `coalesce(to_json(${sql}::text)::text, 'null')`,
  time: (sql: string): string => `'"' || ${isoOf(sql)} || '"'`,
};

const UNKNOWN_TIME = '0001-01-01T00:00:00.000Z';

/**
 * The outbox (docs/design/events-and-jobs.md, The outbox). An event and its deliveries are rows of the transaction that makes the
 * change, so they exist if, and only if, that commits. The payload is written once, as the exact bytes to sign and send.
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

  /** For many calls in one transaction: `flush` writes the events that they emit, many in one statement. */
  buffered(): BufferedEvents {
    return new BufferedEvents({ notifier: this.#notifier, clock: this.#clock, random: this.#random });
  }

  /**
   * Takes one statement, even if no webhook is subscribed to the event. Throws ZodError if `data` does not have the catalogue's
   * shape.
   */
  async emit<Name extends EventName>(tx: Tx, event: Name, data: EventData<Name>): Promise<void> {
    await this.emitAll(tx, event, [data]);
  }

  /** Returns the event of a file for `fileCreatedRows`. After the statement, call `notify` if there are deliveries. */
  fileCreated(data: Omit<EventData<'file.created'>, 'created_at'>): FileCreatedEvent {
    const payload = payloadOf('file.created', this.#clock.now().toISOString(), { ...data, created_at: UNKNOWN_TIME });
    // A name cannot look like it: its quotes are escaped.
    const at = payload.lastIndexOf(`"created_at":"${UNKNOWN_TIME}"`) + '"created_at":"'.length;
    // Other uploads share the statement, so the span covers only the creation of the event.
    const span = startSpan(...sending('file.created'));
    if (span) endSpan(span);
    const traceparent = span ? traceparentOf(span) : null;
    return { uuid: this.#random.uuid(), head: payload.slice(0, at), tail: payload.slice(at + UNKNOWN_TIME.length), traceparent };
  }

  /** Wakes the workers for deliveries that a separate statement has written. */
  notify(): void {
    this.#notifier.notify();
  }

  /** Wakes the workers after the commit, for deliveries that a statement of this transaction has written. */
  notifyAfterCommit(tx: Tx): void {
    this.#notifier.notifyAfterCommit(tx);
  }

  /** Emits several events of one kind, in their order: one statement per 1,000. */
  async emitAll<Name extends EventName>(tx: Tx, event: Name, all: readonly EventData<Name>[]): Promise<void> {
    const timestamp = this.#clock.now().toISOString();
    const write = (uuids: string[], payloads: string[]) =>
      inSpan(...sending(event), () =>
        tx.prepared<{ deliveries: number }>('events-emit', EMIT, [event, uuids, payloads, traceparentOf()]),
      );
    let deliveries = 0;
    for (let at = 0; at < all.length; at += EVENTS_PER_STATEMENT) {
      const payloads = all.slice(at, at + EVENTS_PER_STATEMENT).map((data) => payloadOf(event, timestamp, data));
      const uuids = payloads.map(() => this.#random.uuid());
      const [written] = await write(uuids, payloads);
      deliveries += written?.deliveries ?? 0;
    }
    if (deliveries > 0) this.#notifier.notifyAfterCommit(tx);
  }
}

type Emitted = { [Name in EventName]: readonly [Name, EventData<Name>] }[EventName];

/** Events of one transaction, which `flush` writes. */
export class BufferedEvents extends Events {
  #emitted: Emitted[] = [];

  get count(): number {
    return this.#emitted.length;
  }

  /** Runs no statement. */
  override async emitAll<Name extends EventName>(_tx: Tx, event: Name, all: readonly EventData<Name>[]): Promise<void> {
    this.#emitted.push(...all.map((data) => [event, data] as const as Emitted));
  }

  /** Drops all events after the first `count`. */
  dropAfter(count: number): void {
    this.#emitted.length = count;
  }

  /** Writes the events in their order: one statement per run of events of one kind. */
  async flush(tx: Tx): Promise<void> {
    const emitted = this.#emitted;
    this.#emitted = [];
    for (let at = 0; at < emitted.length;) {
      const name = emitted[at]?.[0] as EventName;
      const end = emitted.findIndex(([other], index) => index > at && other !== name);
      const run = emitted.slice(at, end === -1 ? emitted.length : end);
      await super.emitAll(
        tx,
        name,
        run.map(([, data]) => data as EventData<typeof name>),
      );
      at += run.length;
    }
  }
}
