import { createHash } from 'node:crypto';
import type { Counter } from 'prom-client';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound, isUnavailable } from './errors.ts';
import { EVENT, type Event } from './kinds.ts';
import { microTime } from './leader.ts';
import { counter } from './metrics.ts';
import { apiVersionOf, type Kind, type Observed } from './object.ts';
import { ResourceApi } from './resource.ts';
import type { KubeClient } from './transport.ts';

export interface Occurrence {
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase, at most 128 characters. */
  readonly reason: string;
  /** For people; truncated at 1,024 bytes. */
  readonly message: string;
  /** The action during which it happened; default `Reconcile`. */
  readonly action?: string;
}

interface Series {
  readonly event: Event & { metadata: { namespace: string; name: string } };
  count: number;
  lastAt: Date;
  /** On the monotonic clock. */
  lastSeen: number;
  sentCount: number;
  sentAt: number;
  failures: number;
}

/** Repetitions within this time count as one series (client-go: 6 minutes). */
const SERIES_MS = 360_000;
/** The count of a series is written at most this often. */
const COUNT_EVERY_MS = 30_000;
const MAX_SERIES = 1_000;
const MAX_NOTE_BYTES = 1_024;
const MAX_FAILURES = 5;
const RETRY_MS = 1_000;
const FLUSH_MS = 2_000;

/**
 * Reports occurrences to people, as Events beside the object.
 *
 * Invariants:
 * - `record` never fails and never waits: an Event that cannot be written is dropped, counted and logged.
 * - Repetitions are one Event with a count, written at most every 30 s.
 */
export class EventRecorder {
  readonly #api: ResourceApi<Event>;
  readonly #controller: string;
  readonly #instance: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #dropped: Counter<'reason'>;
  /** The most recently recorded series is last. */
  readonly #series = new Map<string, Series>();
  #wake = Promise.withResolvers<void>();
  #serial = 0;

  /** `controller` as in `example.com/operator`; `instance` distinguishes its replicas. */
  constructor(options: {
    client: KubeClient;
    controller: string;
    instance: string;
    clock: Clock;
    log: Logger;
    metrics: Metrics;
  }) {
    this.#api = new ResourceApi(options.client, EVENT);
    this.#controller = options.controller;
    this.#instance = options.instance.slice(0, 128);
    this.#clock = options.clock;
    this.#log = options.log;
    this.#dropped = counter(options.metrics, 'events_dropped_total', 'Events that could not be written.', ['reason']);
  }

  record(object: Observed, kind: Kind, occurrence: Occurrence): void {
    const { type, reason, message, action = 'Reconcile' } = occurrence;
    const key = JSON.stringify([object.metadata.uid, type, reason, message, action]);
    const now = this.#clock.monotonic();
    const before = this.#series.get(key);
    const isGoingOn = before !== undefined && now - before.lastSeen <= SERIES_MS;
    const series = isGoingOn ? before : this.#begin(object, kind, { type, reason, message, action });
    series.count++;
    series.lastAt = this.#clock.now();
    series.lastSeen = now;
    this.#series.delete(key);
    this.#series.set(key, series);
    this.#dropOldest();
    this.#wake.resolve();
  }

  /** Writes recorded Events until the signal is aborted, then the rest for at most 2 s. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      const aborted = Promise.withResolvers<void>();
      const onAbort = (): void => aborted.resolve();
      signal.addEventListener('abort', onAbort, { once: true });
      const waiting = new AbortController();
      const dueInMs = await this.#sendDue(signal);
      const due = dueInMs === undefined ? [] : [this.#clock.sleep(dueInMs, waiting.signal).catch(() => undefined)];
      if (!signal.aborted) await Promise.race([this.#wake.promise, aborted.promise, ...due]);
      waiting.abort();
      signal.removeEventListener('abort', onAbort);
    }
    const deadline = AbortSignal.timeout(FLUSH_MS);
    for (const series of this.#series.values()) {
      if (series.count > series.sentCount && !deadline.aborted) await this.#send(series, deadline);
    }
  }

  /** Sends the Events that are due; returns the milliseconds until the next one is due, if any. */
  async #sendDue(signal: AbortSignal): Promise<number | undefined> {
    const waits: number[] = [];
    for (const [key, series] of this.#series) {
      const now = this.#clock.monotonic();
      if (series.count === series.sentCount) {
        if (now - series.lastSeen > SERIES_MS) this.#series.delete(key);
        continue;
      }
      if (signal.aborted) return undefined;
      const dueAt = series.sentAt + (series.failures > 0 ? RETRY_MS * 2 ** series.failures : COUNT_EVERY_MS);
      if (dueAt <= now && !(await this.#send(series, signal))) this.#series.delete(key);
      if (series.count > series.sentCount) waits.push(Math.max(dueAt - this.#clock.monotonic(), RETRY_MS));
    }
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  /** Returns false if the Event is abandoned. */
  async #send(series: Series, signal: AbortSignal): Promise<boolean> {
    const { count } = series;
    const { metadata } = series.event;
    const counted = count > 1 ? { series: { count, lastObservedTime: microTime(series.lastAt) } } : {};
    try {
      if (series.sentCount === 0) await this.#api.create({ ...series.event, ...counted }, { signal });
      else await this.#api.patch({ namespace: metadata.namespace, name: metadata.name }, counted, { signal });
      series.sentCount = count;
      series.failures = 0;
    } catch (error) {
      // Interrupted by the shutdown: the last flush sends it again.
      if (signal.aborted) return true;
      // It had arrived, only its answer had not; the count that it carried is unknown.
      if (isAlreadyExists(error)) {
        series.sentCount = 1;
        return count === 1 || this.#send(series, signal);
      }
      // The server deletes Events after an hour; then a new count begins.
      if (isNotFound(error) && series.sentCount > 0) series.sentCount = 0;
      else if (!isUnavailable(error) || ++series.failures > MAX_FAILURES) return this.#giveUp(series, error);
    }
    series.sentAt = this.#clock.monotonic();
    return true;
  }

  #giveUp(series: Series, error: unknown): false {
    this.#dropped.inc({ reason: 'refused' });
    const { reason, note, regarding } = series.event;
    // Nothing can be created in a namespace that is being deleted, so only the log records the outcome.
    const err = isNamespaceTerminating(error) ? {} : { err: error };
    this.#log.warn(
      { reason, note, regarding: regarding?.name, namespace: regarding?.namespace, ...err },
      'could not write an Event',
    );
    return false;
  }

  #begin(object: Observed, kind: Kind, occurrence: Required<Occurrence>): Series {
    const { namespace, name, uid, resourceVersion } = object.metadata;
    const now = this.#clock.now();
    const unique = createHash('sha256')
      .update(`${this.#instance} ${now.getTime()} ${this.#serial++}`)
      .digest('hex')
      .slice(0, 16);
    const event = {
      metadata: { namespace: namespace ?? 'default', name: `${name.slice(0, 230)}.${unique}` },
      eventTime: microTime(now),
      type: occurrence.type,
      reason: occurrence.reason.slice(0, 128),
      action: occurrence.action.slice(0, 128),
      note: cut(occurrence.message, MAX_NOTE_BYTES),
      reportingController: this.#controller,
      reportingInstance: this.#instance,
      regarding: {
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        name,
        uid,
        resourceVersion,
        ...(namespace ? { namespace } : {}),
      },
    };
    return { event, count: 0, lastAt: now, lastSeen: 0, sentCount: 0, sentAt: -Infinity, failures: 0 };
  }

  #dropOldest(): void {
    for (const [key, series] of this.#series) {
      if (this.#series.size <= MAX_SERIES) return;
      if (series.count > series.sentCount) this.#dropped.inc({ reason: 'overflow' });
      this.#series.delete(key);
    }
  }
}

/** Returns at most `bytes` of UTF-8, without splitting a character. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const head = Buffer.from(text)
    .subarray(0, bytes - 3)
    .toString('utf8');
  return `${head.replace(/\uFFFD+$/, '')}…`;
}
