import type { Counter, Gauge, Histogram } from 'prom-client';
import { whenAborted } from '../runtime/abort.ts';
import type { BackOff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import { counter, gauge, histogram, SECONDS_BUCKETS } from './metrics.ts';
import { keyText, parseKey, type ObjectKey } from './object.ts';
import { PRIORITY, WorkQueue, type Priority } from './work-queue.ts';
import { isLasting, type Result, TerminalError } from './result.ts';
import type { Source } from './sources.ts';
import { HOUR_MS } from '../runtime/time.ts';

export type Reconcile = (key: ObjectKey, signal: AbortSignal) => Promise<Result>;

export interface ControllerOptions {
  /** The label of its metrics and logs. */
  readonly name: string;
  /**
   * Brings the world to the state that the key's object describes. It must be safe to call at any time, also for a deleted key.
   */
  readonly reconcile: Reconcile;
  readonly sources: readonly Source[];
  /** Workers: the most reconciles that run at once, apart from those that have released their worker. */
  readonly concurrency?: number;
  /** A reconcile releases its worker after this time: it waits for something, and others must not wait for it. */
  readonly slowMs?: number;
  /** A reconcile's signal is aborted after this time. */
  readonly timeoutMs?: number;
  /** Every object is reconciled again about this often. */
  readonly resyncMs?: number;
  /**
   * On a stop, running reconciles may end within this time; then their signals are aborted. Less than the remaining time of a
   * lease that cannot be renewed.
   */
  readonly drainMs?: number;
  readonly backOff?: BackOff;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const CONCURRENCY = 4;
const SLOW_MS = 3_000;
/** The most reconciles per worker that have released their worker; beyond that, running ones keep theirs. */
const MOST_SLOW = 8;
/** The share of the workers that one namespace gets while others wait. */
const NAMESPACE_SHARE = 0.25;
const TIMEOUT_MS = 60_000;
const RESYNC_MS = 10 * HOUR_MS;
const DRAIN_MS = 3_000;
/** On shutdown, the time to wait for a reconcile that ignores its signal. */
const ABANDON_MS = 2_000;

/**
 * Calls a reconcile for each key that its sources name.
 *
 * Invariants:
 * - A key is never reconciled twice at once. A change meanwhile makes it run again once it has ended, however late that is.
 * - A slow reconcile holds no worker. One namespace runs at most as many at once as there are workers, slow ones included. While
 *   others wait, it begins none beyond a quarter of the workers.
 * - No reconcile begins before all stores have synced, or after the signal was aborted.
 * - A failure is retried with back-off; a TerminalError is not. A lasting failure is retried after pending changes.
 */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  readonly #log: Logger;
  readonly #metrics: ReturnType<typeof controllerMetrics>;
  readonly #running = new Set<Promise<void>>();
  #slow = 0;

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { name, clock, random, metrics, backOff, concurrency = CONCURRENCY } = options;
    const perNamespace = { share: Math.max(1, Math.floor(concurrency * NAMESPACE_SHARE)), most: concurrency };
    this.#queue = new WorkQueue({ name, clock, random, metrics, backOff, perNamespace });
    this.#log = options.log.child({ controller: name });
    this.#metrics = controllerMetrics(metrics);
  }

  enqueue(key: ObjectKey, priority: Priority = PRIORITY.change): void {
    this.#queue.add(keyText(key), priority);
  }

  /** Runs once, until the signal is aborted; resolves when the running reconciles have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { sources, concurrency = CONCURRENCY, name, drainMs = DRAIN_MS, clock } = this.#options;
    const stops = sources.map((source) => source.subscribe((key, priority) => this.enqueue(key, priority)));
    try {
      await Promise.all(sources.map((source) => source.waitForSync(signal)));
    } catch {
      for (const stop of stops) stop();
      this.#queue.close();
      return;
    }
    this.#metrics.maxConcurrent.set({ controller: name }, concurrency);
    const drained = new AbortController();
    const workers = Promise.all(Array.from({ length: concurrency }, () => this.#work(drained.signal))).then(() =>
      Promise.all(this.#running),
    );
    await whenAborted(signal);
    for (const stop of stops) stop();
    this.#queue.close();
    await within(workers, drainMs, clock);
    drained.abort(new Error('the controller stopped'));
    if (!(await within(workers, ABANDON_MS, clock))) this.#log.error('a reconcile did not end after its signal was aborted');
  }

  async #work(stopped: AbortSignal): Promise<void> {
    for (let text = await this.#queue.take(); text !== undefined; text = await this.#queue.take()) {
      const running = this.#reconcile(text, stopped).finally(() => {
        this.#running.delete(running);
        this.#queue.done(text);
      });
      this.#running.add(running);
      await this.#untilSlow(running);
    }
  }

  /** Resolves when the worker is free: the reconcile has ended, or continues without it. */
  async #untilSlow(running: Promise<void>): Promise<void> {
    const { name: controller, slowMs = SLOW_MS, concurrency = CONCURRENCY, clock } = this.#options;
    this.#metrics.active.inc({ controller });
    while (!(await within(running, slowMs, clock))) {
      if (this.#slow >= MOST_SLOW * concurrency) continue;
      this.#slow += 1;
      this.#metrics.slow.inc({ controller });
      void running.then(() => {
        this.#slow -= 1;
        this.#metrics.slow.dec({ controller });
      });
      break;
    }
    this.#metrics.active.dec({ controller });
  }

  async #reconcile(text: string, stopped: AbortSignal): Promise<void> {
    const controller = this.#options.name;
    const stopTimer = this.#metrics.time.startTimer({ controller });
    try {
      const result = await this.#withTimeout(text, stopped);
      this.#queue.resetBackoff(text);
      this.#metrics.total.inc({ controller, result: result.requeueAfterMs === undefined ? 'success' : 'requeue_after' });
      this.#again(text, result);
    } catch (error) {
      this.#fail(text, error, stopped);
    } finally {
      stopTimer();
    }
  }

  async #withTimeout(text: string, stopped: AbortSignal): Promise<Result> {
    const { name: controller, timeoutMs = TIMEOUT_MS, clock, reconcile } = this.#options;
    const aborter = new AbortController();
    const onStop = (): void => aborter.abort(stopped.reason);
    const ended = new AbortController();
    void clock.sleep(timeoutMs, ended.signal).then(
      () => {
        this.#metrics.timeouts.inc({ controller });
        this.#log.warn({ key: text, timeoutMs }, 'a reconcile timed out; its key waits until it has ended');
        aborter.abort(new Error(`the reconcile took longer than ${timeoutMs} ms`));
      },
      () => undefined,
    );
    stopped.addEventListener('abort', onStop, { once: true });
    try {
      return await reconcile(parseKey(text), aborter.signal);
    } finally {
      stopped.removeEventListener('abort', onStop);
      ended.abort();
    }
  }

  #again(text: string, result: Result): void {
    const { resyncMs = RESYNC_MS, random, sources } = this.#options;
    const priority = result.isLasting ? PRIORITY.resync : PRIORITY.change;
    if (result.requeueAfterMs !== undefined) this.#queue.addAfter(text, result.requeueAfterMs, priority);
    const own = sources.filter((source) => source.holds !== undefined);
    if (own.some((source) => source.holds?.(parseKey(text)))) {
      this.#queue.addAfter(text, resyncMs * (0.9 + 0.2 * random.fraction()), PRIORITY.resync);
    }
  }

  #fail(text: string, error: unknown, stopped: AbortSignal): void {
    const controller = this.#options.name;
    if (stopped.aborted) return;
    const terminal = error instanceof TerminalError;
    this.#metrics.total.inc({ controller, result: 'error' });
    this.#metrics.errors.inc({ controller });
    this.#log[terminal ? 'warn' : 'error']({ err: error, key: text, terminal }, 'reconcile failed');
    if (terminal) {
      this.#metrics.terminal.inc({ controller });
      this.#queue.resetBackoff(text);
      this.#again(text, {});
    } else {
      this.#queue.retry(text, isLasting(error) ? error.retryAfterMs : 0);
    }
  }
}

/** Returns true if `work` ended within `ms`. */
async function within(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const ended = new AbortController();
  const timeout = clock.sleep(ms, ended.signal).then(
    () => false,
    () => true,
  );
  try {
    return await Promise.race([work.then(() => true), timeout]);
  } finally {
    ended.abort();
  }
}

/** The metrics have controller-runtime's names. */
function controllerMetrics(metrics: Metrics): {
  total: Counter<'controller' | 'result'>;
  errors: Counter<'controller'>;
  terminal: Counter<'controller'>;
  time: Histogram<'controller'>;
  timeouts: Counter<'controller'>;
  active: Gauge<'controller'>;
  slow: Gauge<'controller'>;
  maxConcurrent: Gauge<'controller'>;
} {
  const by: 'controller'[] = ['controller'];
  return {
    total: counter(metrics, 'controller_runtime_reconcile_total', 'Reconciles by result.', ['controller', 'result']),
    errors: counter(metrics, 'controller_runtime_reconcile_errors_total', 'Reconciles that failed.', by),
    terminal: counter(metrics, 'controller_runtime_terminal_reconcile_errors_total', 'Reconciles that failed permanently.', by),
    time: histogram(metrics, 'controller_runtime_reconcile_time_seconds', 'Time of a reconcile.', by, SECONDS_BUCKETS),
    timeouts: counter(metrics, 'controller_runtime_reconcile_timeouts_total', 'Reconciles that timed out.', by),
    active: gauge(metrics, 'controller_runtime_active_workers', 'Running reconciles that hold a worker.', by),
    slow: gauge(metrics, 'controller_runtime_slow_reconciles', 'Running reconciles that have released their worker.', by),
    maxConcurrent: gauge(metrics, 'controller_runtime_max_concurrent_reconciles', 'Reconciles that may run at once.', by),
  };
}
