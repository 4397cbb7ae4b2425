import type { Counter } from 'prom-client';
import { backOffMs, type BackOff } from '../runtime/backoff.ts';
import { systemClock, type Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { systemRandom, type Random } from '../runtime/random.ts';
import { isForbidden, isGone, isKindMissing, KubeError } from './errors.ts';
import { counter } from './metrics.ts';
import { retryAfterMs } from './transport.ts';
import { apiVersionOf, keyOf, keyText, type KubeObject } from './object.ts';
import { PAGE_SIZE, type ResourceApi, type Selection } from './resource.ts';
import type { Store } from './store.ts';

export interface ReflectorOptions<T extends KubeObject> extends Selection {
  readonly api: ResourceApi<T>;
  readonly store: Store<T>;
  /** Reads only names, labels, annotations and owners: for Secrets whose content the operator must not read. */
  readonly metadataOnly?: boolean | undefined;
  /** The store's scope that this reflector delivers. Default: all objects. */
  readonly scope?: string | undefined;
  /**
   * Returns true if the scope's namespace is gone or being deleted: a refusal (403) then means that it has nothing left to
   * deliver.
   */
  readonly hasEnded?: (() => boolean) | undefined;
  /** The kind's CustomResourceDefinition may be missing: until it exists, there are no objects. */
  readonly mayBeMissing?: boolean | undefined;
  /** A stream without a message for this long is dead; the server sends a bookmark about every minute. */
  readonly idleMs?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly backOff?: BackOff | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const IDLE_MS = 150_000;
/** The server is asked to end a watch after 5 to 10 minutes, so that not all watches restart at once (as in client-go). */
const WATCH_SECONDS = { least: 300, spread: 300 };
/** A watch that ends sooner and without an event is a failure; otherwise two servers that disagree would cause a busy loop. */
const SHORT_WATCH_MS = 1_000;
/** Short enough that work continues within 5 s of the end of an outage. */
const BACK_OFF: BackOff = { baseMs: 200, maxMs: 4_000, jitter: 0.5 };
/** The wait between attempts in a namespace that is gone, or for a missing kind: it may be created. */
const ENDED_RETRY_MS = 10_000;
/** The interval between log lines about a missing kind that must exist. */
const MISSING_LOG_MS = 300_000;

/**
 * Keeps a Store equal to the API server's state until its signal is aborted: a list in pages, then a watch from the list's
 * version.
 *
 * Invariants:
 * - No change is missed and none is reported twice: a broken watch continues from the last version that it delivered. A version
 *   that is too old (410) means a new list, of which only the differences are reported.
 * - It never stops: every failure is logged and retried, with back-off and jitter.
 * - A namespace that is gone, together with our rights in it, counts as one without objects. So does a missing kind that may be
 *   missing.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #lists: Counter<'kind'>;
  readonly #watches: Counter<'kind'>;
  /** The last version that was delivered; undefined: list first. */
  #version: string | undefined;
  #failures = 0;
  #isEnded = false;
  /** The time when the log last reported the kind as missing (monotonic). */
  #missingLoggedAt = -Infinity;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#log = options.log.child({ kind: options.api.kind.kind });
    this.#lists = counter(options.metrics, 'reflector_lists_total', 'Full lists read, by kind.', ['kind']);
    this.#watches = counter(options.metrics, 'reflector_watches_total', 'Watches begun, by kind.', ['kind']);
  }

  /** Resolves when the signal is aborted, never before and never with an error. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#version === undefined) await this.#list(signal);
        await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { api, store, metadataOnly = false, pageSize = PAGE_SIZE } = this.#options;
    const keys = new Set<string>();
    let resourceVersion = '';
    let next: string | undefined;
    do {
      const page = await api.page({ ...this.#selection(), limit: pageSize, continue: next, metadataOnly, signal });
      if (next === undefined) {
        this.#lists.inc({ kind: api.kind.kind });
        resourceVersion = page.resourceVersion;
        store.beginList(resourceVersion, this.#options.scope);
      }
      for (const object of page.items) {
        keys.add(keyText(keyOf(object)));
        store.upsert(object);
      }
      next = page.next;
    } while (next !== undefined);
    store.endList(keys, resourceVersion, this.#options.scope);
    this.#version = resourceVersion;
    this.#isEnded = false;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { api, store, metadataOnly = false, idleMs = IDLE_MS } = this.#options;
    const startedAt = this.#clock.monotonic();
    this.#watches.inc({ kind: api.kind.kind });
    const events = api.watch({
      ...this.#selection(),
      resourceVersion: this.#version ?? '',
      timeoutSeconds: WATCH_SECONDS.least + Math.floor(WATCH_SECONDS.spread * this.#random.fraction()),
      idleMs,
      metadataOnly,
      signal,
    });
    let delivered = 0;
    for await (const event of events) {
      if (event.type === 'DELETED') store.remove(event.object);
      else if (event.type !== 'BOOKMARK') store.upsert(event.object);
      this.#version = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
      store.progress(this.#version, this.#options.scope);
      this.#failures = 0;
      delivered++;
    }
    signal.throwIfAborted();
    if (delivered === 0 && this.#clock.monotonic() - startedAt < SHORT_WATCH_MS) {
      throw new KubeError(0, 'Unreachable', `watch ${api.kind.plural}: ended at once`);
    }
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    if (isForbidden(error) && this.#options.hasEnded?.())
      return this.#endScope('the namespace is gone or being deleted, and the rights in it are gone: it counts as empty', signal);
    if (isKindMissing(error) && this.#options.mayBeMissing)
      return this.#endScope(
        `the API server does not serve this kind yet; looking for it every ${ENDED_RETRY_MS / 1_000} s`,
        signal,
      );
    this.#failures++;
    const relist = isGone(error);
    if (relist) this.#version = undefined;
    // The first 410 is ordinary (a watch slept through a compaction): list at once.
    const ownMs = relist && this.#failures === 1 ? 0 : backOffMs(this.#options.backOff ?? BACK_OFF, this.#failures, this.#random);
    const delayMs = error instanceof KubeError ? Math.max(ownMs, retryAfterMs(error, 0)) : ownMs;
    if (isKindMissing(error)) {
      this.#logMissing();
      return this.#pause(delayMs, signal);
    }
    const level = this.#failures > 3 || !(error instanceof KubeError) ? 'warn' : 'info';
    this.#log[level](
      { err: error, failures: this.#failures, delayMs: Math.round(delayMs) },
      relist ? 'the version is too old; listing again' : 'the watch was interrupted',
    );
    await this.#pause(delayMs, signal);
  }

  #logMissing(): void {
    const now = this.#clock.monotonic();
    if (now - this.#missingLoggedAt < MISSING_LOG_MS) return;
    this.#missingLoggedAt = now;
    const { kind } = this.#options.api;
    this.#log.warn(`the API server does not serve ${kind.kind} (${apiVersionOf(kind)}): install the custom resources (crds/)`);
  }

  async #endScope(why: string, signal: AbortSignal): Promise<void> {
    const { store, scope } = this.#options;
    if (!this.#isEnded) this.#log.info({ namespace: scope }, why);
    this.#isEnded = true;
    this.#version = undefined;
    store.endScope(scope);
    await this.#pause(ENDED_RETRY_MS, signal);
  }

  /** Ends early, without an error, if the signal is aborted: `run` checks it. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal).catch(() => undefined);
  }

  #selection(): Selection {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return { namespace, labelSelector, fieldSelector };
  }
}
