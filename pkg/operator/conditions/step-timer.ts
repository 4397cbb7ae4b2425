import { histogram, SECONDS_BUCKETS } from '../../kube/metrics.ts';
import { keyText, type ObjectKey } from '../../kube/object.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';

/** Called when a step begins; the function that it returns is called when the step ends, whatever its result. */
export type ObserveStep = (step: string) => () => void;

/** Returns the observer of one reconcile, of the object with this key. */
export type StepTimer = (key: ObjectKey) => ObserveStep;

/** A reconcile gives up its worker after this time (kube/controller.ts); the log names the step that took it. */
const SLOW_MS = 3_000;

/** Measures how long the steps of a controller's reconciles take, and logs each slow one with its object. */
export function stepTimer(
  { clock, log, metrics }: { readonly clock: Clock; readonly log: Logger; readonly metrics: Metrics },
  controller: string,
): StepTimer {
  const times = histogram(
    metrics,
    'carrel_reconcile_step_seconds',
    'How long each step of a reconcile took.',
    ['controller', 'step'],
    SECONDS_BUCKETS,
  );
  return (key) => (step) => {
    const start = clock.monotonic();
    return () => {
      const ms = Math.round(clock.monotonic() - start);
      times.observe({ controller, step }, ms / 1_000);
      if (ms >= SLOW_MS) log.warn({ controller, key: keyText(key), step, ms }, 'a step of a reconcile was slow');
    };
  };
}
