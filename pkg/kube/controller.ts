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

export type Reconcile = (key: ObjectKey, signal: AbortSignal) => Promise<Result>;

export interface ControllerOptions {
  /** Label of its metrics and logs. */
  readonly name: string;
  /** Brings the world to what the object of the key says. It must be safe to call at any time, for a key that is gone too. */
  readonly reconcile: Reconcile;
  readonly sources: readonly Source[];
  readonly concurrency?: number;
  /** A reconcile's signal is aborted after this time. */
  readonly timeoutMs?: number;
  /** Every object is reconciled again about this often. */
  readonly resyncMs?: number;
  /** On a stop, reconciles that run may end within this; then their signals are aborted. Less than a lease has left when it cannot be renewed. */
  readonly drainMs?: number;
  readonly backOff?: BackOff;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const TIMEOUT_MS = 60_000;
const RESYNC_MS = 10 * 3_600_000;
const DRAIN_MS = 3_000;
/** On shutdown, how long to wait for a reconcile that ignores its signal. */
const ABANDON_MS = 2_000;

/**
 * Calls a reconcile for each key that its sources name.
 *
 * Invariants:
 * - A key is never reconciled twice at once; a change meanwhile makes it run again.
 * - No reconcile begins before all stores have synced, or after the signal was aborted.
 * - A failure is retried with back-off; a TerminalError is not. One that lasts is retried behind what changed.
 */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  readonly #log: Logger;
  readonly #metrics: ReturnType<typeof controllerMetrics>;

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { name, clock, random, metrics, backOff } = options;
    this.#queue = new WorkQueue({ name, clock, random, metrics, backOff });
    this.#log = options.log.child({ controller: name });
    this.#metrics = controllerMetrics(metrics);
  }

  enqueue(key: ObjectKey, priority: Priority = PRIORITY.change): void {
    this.#queue.add(keyText(key), priority);
  }

  /** Runs once, until the signal is aborted; resolves when the reconciles that ran have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { sources, concurrency = 4, name, drainMs = DRAIN_MS, clock } = this.#options;
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
    const workers = Promise.all(Array.from({ length: concurrency }, () => this.#work(drained.signal)));
    await whenAborted(signal);
    for (const stop of stops) stop();
    this.#queue.close();
    await within(workers, drainMs, clock);
    drained.abort(new Error('the controller stopped'));
    if (!(await within(workers, ABANDON_MS, clock))) this.#log.error('a reconcile did not end after its signal was aborted');
  }

  async #work(stopped: AbortSignal): Promise<void> {
    for (let text = await this.#queue.take(); text !== undefined; text = await this.#queue.take()) {
      await this.#reconcile(text, stopped);
      this.#queue.done(text);
    }
  }

  async #reconcile(text: string, stopped: AbortSignal): Promise<void> {
    const controller = this.#options.name;
    this.#metrics.active.inc({ controller });
    const stopTimer = this.#metrics.time.startTimer({ controller });
    try {
      const result = await this.#withTimeout(parseKey(text), stopped);
      this.#queue.resetBackoff(text);
      this.#metrics.total.inc({ controller, result: result.requeueAfterMs === undefined ? 'success' : 'requeue_after' });
      this.#again(text, result);
    } catch (error) {
      this.#fail(text, error, stopped);
    } finally {
      stopTimer();
      this.#metrics.active.dec({ controller });
    }
  }

  async #withTimeout(key: ObjectKey, stopped: AbortSignal): Promise<Result> {
    const { timeoutMs = TIMEOUT_MS, clock, reconcile } = this.#options;
    const aborter = new AbortController();
    const onStop = (): void => aborter.abort(stopped.reason);
    const ended = new AbortController();
    void clock.sleep(timeoutMs, ended.signal).then(
      () => aborter.abort(new Error(`the reconcile took longer than ${timeoutMs} ms`)),
      () => undefined,
    );
    stopped.addEventListener('abort', onStop, { once: true });
    try {
      return await reconcile(key, aborter.signal);
    } finally {
      stopped.removeEventListener('abort', onStop);
      ended.abort();
    }
  }

  #again(text: string, result: Result): void {
    const { resyncMs = RESYNC_MS, random, sources } = this.#options;
    if (result.requeueAfterMs !== undefined) this.#queue.addAfter(text, result.requeueAfterMs);
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

/** Whether `work` ended within `ms`. */
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

/** Named as controller-runtime names them. */
function controllerMetrics(metrics: Metrics): {
  total: Counter<'controller' | 'result'>;
  errors: Counter<'controller'>;
  terminal: Counter<'controller'>;
  time: Histogram<'controller'>;
  active: Gauge<'controller'>;
  maxConcurrent: Gauge<'controller'>;
} {
  const by: 'controller'[] = ['controller'];
  return {
    total: counter(metrics, 'controller_runtime_reconcile_total', 'Reconciles by result.', ['controller', 'result']),
    errors: counter(metrics, 'controller_runtime_reconcile_errors_total', 'Reconciles that failed.', by),
    terminal: counter(metrics, 'controller_runtime_terminal_reconcile_errors_total', 'Reconciles that failed for good.', by),
    time: histogram(metrics, 'controller_runtime_reconcile_time_seconds', 'Time of a reconcile.', by, SECONDS_BUCKETS),
    active: gauge(metrics, 'controller_runtime_active_workers', 'Reconciles that run.', by),
    maxConcurrent: gauge(metrics, 'controller_runtime_max_concurrent_reconciles', 'Reconciles that may run at once.', by),
  };
}
