import type { CircuitBreakerPolicy, CircuitState } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import { Gauge } from 'prom-client';
import type { ProblemCode } from '../../api/error-catalogue.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { HELPER_KINDS, type HelperKind } from '../helper.ts';

export interface BreakerLimits {
  /** Consecutive failures that open a breaker. */
  readonly failures: number;
  /** How long it stays open, until one call may try again, in milliseconds. */
  readonly openMs: number;
}

export const BREAKER_LIMITS: BreakerLimits = { failures: 5, openMs: 30_000 };
/** Seconds after which other clients retry while one call tries whether the helper has recovered. */
const TRIAL_SECONDS = 5;
const BREAKERS_MAX = 2_000;

/** Errors that show that the helper is up. */
const ANSWERED: readonly ProblemCode[] = ['helper_rejected', 'validation_failed', 'pdf_signed', 'pdf_encrypted'];
const UNAVAILABLE: readonly ProblemCode[] = ['helper_unavailable'];
const isCode = (error: unknown, codes: readonly ProblemCode[]): error is Problem =>
  error instanceof Problem && codes.includes(error.code);

/**
 * A trial that failed for a reason of our own, such as a disconnected client: it does not show whether the helper has recovered.
 */
class Undecided extends Error {
  override readonly name = 'Undecided';

  constructor(cause: unknown) {
    super('the trial was inconclusive', { cause });
  }
}

interface Breaker {
  readonly policy: CircuitBreakerPolicy;
  readonly states: typeof CircuitState;
  /** Monotonic, ms. */
  openedAt: number;
}

/**
 * A circuit breaker for each tenant and helper, per process. Only a failure that may pass (`helper_unavailable`) opens it: a
 * helper that answers, even with a refusal, is up. One tenant's helper does not affect another's, even at the same address: the
 * other may use another token or another network.
 */
export class Breakers {
  readonly #clock: Clock;
  readonly #limits: BreakerLimits;
  readonly #known = new LRUCache<string, Breaker>({ max: BREAKERS_MAX });

  constructor({ clock, metrics, limits = {} }: { clock: Clock; metrics: Metrics; limits?: Partial<BreakerLimits> }) {
    this.#clock = clock;
    this.#limits = { ...BREAKER_LIMITS, ...limits };
    metrics.registerMetric(this.#gauge());
  }

  /** Throws `helper_unavailable` without a call while the breaker is open. */
  async run<T>(tenant: string, kind: HelperKind, call: () => Promise<T>): Promise<T> {
    const breaker = await this.#of(tenant, kind);
    const waitSeconds = this.#waitOf(breaker);
    if (waitSeconds !== null) throw unavailable(waitSeconds);
    const { policy, states, openedAt } = breaker;
    const isTrial = policy.state !== states.Closed;
    try {
      const answer = await policy.execute(() =>
        call().then(
          (value) => ({ value }),
          (error: unknown) => {
            if (isCode(error, ANSWERED)) return { error };
            throw isTrial && !isCode(error, UNAVAILABLE) ? new Undecided(error) : error;
          },
        ),
      );
      if ('error' in answer) throw answer.error;
      return answer.value;
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
      breaker.openedAt = openedAt; // The next call tries again.
      throw error.cause;
    }
  }

  isOpen(tenant: string, kind: HelperKind): boolean {
    const known = this.#known.get(keyOf(tenant, kind));
    return known !== undefined && this.#waitOf(known) !== null;
  }

  /** Returns whole seconds; null: a call may be made. */
  #waitOf({ policy, states, openedAt }: Breaker): number | null {
    if (policy.state === states.HalfOpen) return TRIAL_SECONDS;
    if (policy.state !== states.Open) return null;
    const leftMs = openedAt + this.#limits.openMs - this.#clock.monotonic();
    return leftMs <= 0 ? null : Math.ceil(leftMs / 1000);
  }

  async #of(tenant: string, kind: HelperKind): Promise<Breaker> {
    // Loaded on the first call: most tenants have no helpers.
    const { circuitBreaker, CircuitState: states, ConsecutiveBreaker, handleWhen } = await import('cockatiel');
    const key = keyOf(tenant, kind);
    const known = this.#known.get(key);
    if (known) return known;
    const policy = circuitBreaker(
      handleWhen((error) => isCode(error, UNAVAILABLE) || error instanceof Undecided),
      // This class decides when a trial is due, because the library reads the wall clock, which may be set.
      { halfOpenAfter: 0, breaker: new ConsecutiveBreaker(this.#limits.failures) },
    );
    const breaker: Breaker = { policy, states, openedAt: 0 };
    policy.onBreak(() => void (breaker.openedAt = this.#clock.monotonic()));
    this.#known.set(key, breaker);
    return breaker;
  }

  #gauge(): Gauge<'helper'> {
    const [known, isRefusing] = [this.#known, (breaker: Breaker): boolean => this.#waitOf(breaker) !== null];
    return new Gauge({
      name: 'carrel_helper_breakers_open',
      help: 'Circuit breakers of helper services with which this process refuses requests without asking, by helper',
      labelNames: ['helper'],
      registers: [],
      collect() {
        for (const kind of HELPER_KINDS) this.set({ helper: kind }, 0);
        for (const [key, breaker] of known.entries()) if (isRefusing(breaker)) this.inc({ helper: key.split(' ')[0] ?? '' });
      },
    });
  }
}

const keyOf = (tenant: string, kind: HelperKind): string => `${kind} ${tenant}`;

const unavailable = (retryAfter: number): Problem =>
  new Problem('helper_unavailable', 'The helper service failed several times in a row; requests to it are paused.', {
    retryAfter,
  });
