import type { Counter, Gauge, Histogram } from 'prom-client';
import { backOffMs, type BackOff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import { counter, gauge, histogram, SECONDS_BUCKETS } from './metrics.ts';

/** Lower numbers come first. */
export const PRIORITY = { person: 0, change: 1, resync: 2 } as const;
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

interface Later {
  readonly dueAt: number;
  cancel(): void;
}

/** A timer takes 2^31−1 ms and fires at once above it; an earlier look does no harm. */
const MAX_DELAY_MS = 86_400_000;
/** Bounded by 5 s, where controller-runtime goes up to 16 minutes: work goes on soon after a fault's end, and the number of workers bounds what it costs. */
const BACK_OFF: BackOff = { baseMs: 50, maxMs: 5_000, jitter: 0.2 };
/** A key that failed more often waits behind what changed. */
const FIRST_RETRIES = 3;

/**
 * Keys waiting for work.
 *
 * Invariants:
 * - A key waits at most once, however often it is added; adding it again can only bring it forward.
 * - A key is never given out twice at once: added while it is worked on, it waits until `done`.
 * - Of the keys that wait, a more urgent one goes first; among equals, the one that came first.
 */
export class WorkQueue {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backOff: BackOff;
  readonly #ready: [Set<string>, Set<string>, Set<string>] = [new Set(), new Set(), new Set()];
  readonly #since = new Map<string, number>();
  readonly #working = new Map<string, { startedAt: number; again: Priority | undefined }>();
  readonly #later = new Map<string, Later>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #metrics: ReturnType<typeof queueMetrics>;
  #closed = false;

  constructor(options: { name: string; clock: Clock; random: Random; metrics: Metrics; backOff?: BackOff | undefined }) {
    this.#name = options.name;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#backOff = options.backOff ?? BACK_OFF;
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
    const waitsAt = PRIORITIES.find((p) => this.#ready[p].has(key));
    if (waitsAt !== undefined && waitsAt <= priority) return;
    if (waitsAt === undefined) this.#since.set(key, this.#clock.monotonic());
    else this.#ready[waitsAt].delete(key);
    this.#ready[priority].add(key);
    this.#handOut();
  }

  /** Adds the key after `ms`; of several such times the soonest holds. */
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

  /** After success: the next failure begins with the first back-off. */
  resetBackoff(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, as soon as there is one; undefined when the queue is closed. Every key that was returned must be passed to `done`. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#handOut();
    });
  }

  /** The work on the key ended; if it was added meanwhile, it waits again. */
  done(key: string): void {
    const working = this.#working.get(key);
    if (!working) return;
    this.#working.delete(key);
    this.#metrics.work.observe({ name: this.#name }, (this.#clock.monotonic() - working.startedAt) / 1000);
    if (working.again === undefined || this.#closed) return;
    this.#since.set(key, this.#clock.monotonic());
    this.#ready[working.again].add(key);
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
      const keys = this.#ready.find((set) => set.size > 0);
      const [key] = keys ?? [];
      if (!keys || key === undefined) break;
      keys.delete(key);
      const now = this.#clock.monotonic();
      this.#metrics.wait.observe({ name: this.#name }, (now - (this.#since.get(key) ?? now)) / 1000);
      this.#since.delete(key);
      this.#working.set(key, { startedAt: now, again: undefined });
      this.#takers.shift()?.(key);
    }
    this.#showDepth();
  }

  #showDepth(): void {
    this.#metrics.depth.set({ name: this.#name }, this.depth);
  }
}

const PRIORITIES: readonly Priority[] = [PRIORITY.person, PRIORITY.change, PRIORITY.resync];

const more = (a: Priority | undefined, b: Priority): Priority => (a === undefined || b < a ? b : a);

/** Named as client-go names them. */
function queueMetrics(metrics: Metrics): {
  depth: Gauge<'name'>;
  adds: Counter<'name'>;
  retries: Counter<'name'>;
  wait: Histogram<'name'>;
  work: Histogram<'name'>;
} {
  return {
    depth: gauge(metrics, 'workqueue_depth', 'Keys that wait.', ['name']),
    adds: counter(metrics, 'workqueue_adds_total', 'Keys added.', ['name']),
    retries: counter(metrics, 'workqueue_retries_total', 'Keys added again after a failure.', ['name']),
    wait: histogram(metrics, 'workqueue_queue_duration_seconds', 'Time a key waits before work begins.', ['name'], SECONDS_BUCKETS),
    work: histogram(metrics, 'workqueue_work_duration_seconds', 'Time the work on a key takes.', ['name'], SECONDS_BUCKETS),
  };
}
