import type { Counter, Gauge, Histogram } from 'prom-client';
import { backOffMs, type BackOff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import { counter, gauge, histogram, SECONDS_BUCKETS } from './metrics.ts';
import { DAY_MS } from '../runtime/time.ts';

/** Lower numbers come first. */
export const PRIORITY = { person: 0, change: 1, resync: 2 } as const;
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

interface Later {
  readonly dueAt: number;
  cancel(): void;
}

/** A timer supports at most 2^31−1 ms and fires at once above it; an earlier run does no harm. */
const MAX_DELAY_MS = DAY_MS;
/**
 * Limited to 5 s, where controller-runtime goes up to 16 minutes: work continues soon after an outage, and the number of workers
 * bounds the cost.
 */
const BACK_OFF: BackOff = { baseMs: 50, maxMs: 5_000, jitter: 0.2 };
/** A key with more failures waits behind pending changes. */
const FIRST_RETRIES = 3;

/** The limits of keys of one namespace that are processed at once. */
interface NamespaceBounds {
  /** Beyond this number, a namespace's keys wait behind those of namespaces with fewer. */
  readonly share: number;
  /** At this number, its keys wait even if no others do. */
  readonly most: number;
}

const UNBOUNDED: NamespaceBounds = { share: Infinity, most: Infinity };

/**
 * Keys that wait for work.
 *
 * Invariants:
 * - A key waits at most once, however often it is added; adding it again can only advance it.
 * - A key is never returned twice at once: if it is added while it is processed, it waits until `done`.
 * - Waiting keys of namespaces within their share come first; among these the more urgent ones. Among equals, namespaces take
 *   turns, and within a namespace the oldest comes first.
 */
export class WorkQueue {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backOff: BackOff;
  readonly #bounds: NamespaceBounds;
  /** By namespace, the next one first. */
  readonly #ready: [Ready, Ready, Ready] = [new Map(), new Map(), new Map()];
  /** The number of keys of a namespace that are processed. */
  readonly #busy = new Map<string, number>();
  readonly #since = new Map<string, number>();
  readonly #working = new Map<string, { startedAt: number; again: Priority | undefined }>();
  readonly #later = new Map<string, Later>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #metrics: ReturnType<typeof queueMetrics>;
  #closed = false;

  constructor(options: {
    name: string;
    clock: Clock;
    random: Random;
    metrics: Metrics;
    backOff?: BackOff | undefined;
    /** Default: no limits. */
    perNamespace?: NamespaceBounds;
  }) {
    this.#name = options.name;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#backOff = options.backOff ?? BACK_OFF;
    this.#bounds = options.perNamespace ?? UNBOUNDED;
    this.#metrics = queueMetrics(options.metrics);
    this.#showDepth();
  }

  get depth(): number {
    return this.#since.size;
  }

  add(key: string, priority: Priority = PRIORITY.change): void {
    if (this.#closed) return;
    this.#metrics.adds.inc({ name: this.#name });
    const working = this.#working.get(key);
    if (working) {
      working.again = more(working.again, priority);
      return;
    }
    const namespace = namespaceOf(key);
    const waitsAt = PRIORITIES.find((p) => this.#ready[p].get(namespace)?.has(key));
    if (waitsAt !== undefined && waitsAt <= priority) return;
    if (waitsAt === undefined) this.#since.set(key, this.#clock.monotonic());
    else this.#remove(key, waitsAt);
    this.#wait(key, priority);
    this.#handOut();
  }

  /** Adds the key after `ms`; of several such times the earliest counts. */
  addAfter(key: string, ms: number, priority: Priority = PRIORITY.change): void {
    if (ms <= 0) return this.add(key, priority);
    if (this.#closed) return;
    ms = Math.min(ms, MAX_DELAY_MS);
    const dueAt = this.#clock.monotonic() + ms;
    const before = this.#later.get(key);
    if (before && before.dueAt <= dueAt) return;
    before?.cancel();
    const cancel = this.#clock.schedule(ms, () => {
      this.#later.delete(key);
      this.add(key, priority);
    });
    this.#later.set(key, { dueAt, cancel });
  }

  /** Adds the key after its back-off, which doubles with each retry until `resetBackoff`, and not before `leastMs`. */
  retry(key: string, leastMs = 0): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#metrics.retries.inc({ name: this.#name });
    const spreadMs = leastMs * (1 + this.#backOff.jitter * this.#random.fraction());
    const isLasting = leastMs > 0 || failures > FIRST_RETRIES;
    const priority = isLasting ? PRIORITY.resync : PRIORITY.change;
    this.addAfter(key, Math.max(backOffMs(this.#backOff, failures, this.#random), spreadMs), priority);
  }

  /** Call this after a success: the next failure begins with the first back-off. */
  resetBackoff(key: string): void {
    this.#failures.delete(key);
  }

  /**
   * Returns the next key as soon as there is one; undefined when the queue is closed. Every returned key must be passed to
   * `done`.
   */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#handOut();
    });
  }

  /** The work on the key has ended; if it was added meanwhile, it waits again. */
  done(key: string): void {
    const working = this.#working.get(key);
    if (!working) return;
    this.#working.delete(key);
    const namespace = namespaceOf(key);
    const busy = (this.#busy.get(namespace) ?? 1) - 1;
    if (busy > 0) this.#busy.set(namespace, busy);
    else this.#busy.delete(namespace);
    this.#metrics.work.observe({ name: this.#name }, (this.#clock.monotonic() - working.startedAt) / 1000);
    if (this.#closed) return;
    if (working.again !== undefined) {
      this.#since.set(key, this.#clock.monotonic());
      this.#wait(key, working.again);
    }
    // Another key of the namespace may have waited for this one.
    this.#handOut();
  }

  /** Accepts and returns no more keys. */
  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#later.values()) cancel();
    this.#later.clear();
    this.#since.clear();
    for (const keys of this.#ready) keys.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
    this.#showDepth();
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const key = this.#next(this.#bounds.share) ?? this.#next(this.#bounds.most);
      if (key === undefined) break;
      const now = this.#clock.monotonic();
      this.#metrics.wait.observe({ name: this.#name }, (now - (this.#since.get(key) ?? now)) / 1000);
      this.#since.delete(key);
      this.#working.set(key, { startedAt: now, again: undefined });
      const namespace = namespaceOf(key);
      this.#busy.set(namespace, (this.#busy.get(namespace) ?? 0) + 1);
      this.#takers.shift()?.(key);
    }
    this.#showDepth();
  }

  /** Takes the next key of a namespace with fewer than `most` keys in process; then it is another namespace's turn. */
  #next(most: number): string | undefined {
    for (const priority of PRIORITIES) {
      for (const [namespace, keys] of this.#ready[priority]) {
        if ((this.#busy.get(namespace) ?? 0) >= most) continue;
        const [key = ''] = keys;
        this.#remove(key, priority);
        if (keys.size > 0) {
          this.#ready[priority].delete(namespace);
          this.#ready[priority].set(namespace, keys);
        }
        return key;
      }
    }
    return undefined;
  }

  #wait(key: string, priority: Priority): void {
    const namespace = namespaceOf(key);
    const keys = this.#ready[priority].get(namespace);
    if (keys) keys.add(key);
    else this.#ready[priority].set(namespace, new Set([key]));
  }

  #remove(key: string, priority: Priority): void {
    const namespace = namespaceOf(key);
    const keys = this.#ready[priority].get(namespace);
    keys?.delete(key);
    if (keys?.size === 0) this.#ready[priority].delete(namespace);
  }

  #showDepth(): void {
    this.#metrics.depth.set({ name: this.#name }, this.depth);
  }
}

/** The keys of each namespace. */
type Ready = Map<string, Set<string>>;

/** Empty for cluster-scoped objects. */
const namespaceOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')));

const PRIORITIES: readonly Priority[] = [PRIORITY.person, PRIORITY.change, PRIORITY.resync];

const more = (a: Priority | undefined, b: Priority): Priority => (a === undefined || b < a ? b : a);

/** The metrics have client-go's names. */
function queueMetrics(metrics: Metrics): {
  depth: Gauge<'name'>;
  adds: Counter<'name'>;
  retries: Counter<'name'>;
  wait: Histogram<'name'>;
  work: Histogram<'name'>;
} {
  return {
    depth: gauge(metrics, 'workqueue_depth', 'Waiting keys.', ['name']),
    adds: counter(metrics, 'workqueue_adds_total', 'Keys added.', ['name']),
    retries: counter(metrics, 'workqueue_retries_total', 'Keys added again after a failure.', ['name']),
    wait: histogram(
      metrics,
      'workqueue_queue_duration_seconds',
      'Time a key waits before work begins.',
      ['name'],
      SECONDS_BUCKETS,
    ),
    work: histogram(metrics, 'workqueue_work_duration_seconds', 'Time the work on a key takes.', ['name'], SECONDS_BUCKETS),
  };
}
