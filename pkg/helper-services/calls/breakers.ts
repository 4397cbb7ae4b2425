import type { CircuitBreakerPolicy, CircuitState } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import { Gauge } from 'prom-client';
import type { ProblemCode } from '../../api/error-catalogue.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { HELPER_KINDS, type HelperKind } from '../helper.ts';

export interface BreakerLimits {
  /** Failures behind each other that open a breaker. */
  readonly failures: number;
  /** How long it stays open, until one call may try again, in milliseconds. */
  readonly openMs: number;
}

export const BREAKER_LIMITS: BreakerLimits = { failures: 5, openMs: 30_000 };
/** While one call tries whether the helper is back, others are to come again after so long. */
const TRIAL_SECONDS = 5;
const BREAKERS_MAX = 2_000;

/** By these a helper shows that it is there. */
const ANSWERED: readonly ProblemCode[] = ['helper_rejected', 'validation_failed', 'pdf_signed', 'pdf_encrypted'];
const UNAVAILABLE: readonly ProblemCode[] = ['helper_unavailable'];
const isCode = (error: unknown, codes: readonly ProblemCode[]): error is Problem =>
  error instanceof Problem && codes.includes(error.code);

/** A trial failed by something of ours, such as a client that left: it does not tell whether the helper is back. */
class Undecided extends Error {
  override readonly name = 'Undecided';

  constructor(cause: unknown) {
    super('the trial did not tell', { cause });
  }
}

interface Breaker {
  readonly policy: CircuitBreakerPolicy;
  readonly states: typeof CircuitState;
  /** Monotonic, ms. */
  openedAt: number;
}

/**
 * A circuit breaker for each tenant and helper, of this process. Only what may pass by itself (`helper_unavailable`) opens one: a
 * helper that answers, be it with a refusal, is there. One tenant's helper says nothing of another's, also at the same address:
 * the other may have another token, or another network.
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
      breaker.openedAt = openedAt; // the next call tries
      throw error.cause;
    }
  }

  isOpen(tenant: string, kind: HelperKind): boolean {
    const known = this.#known.get(keyOf(tenant, kind));
    return known !== undefined && this.#waitOf(known) !== null;
  }

  /** Whole seconds; null: a call may be made. */
  #waitOf({ policy, states, openedAt }: Breaker): number | null {
    if (policy.state === states.HalfOpen) return TRIAL_SECONDS;
    if (policy.state !== states.Open) return null;
    const leftMs = openedAt + this.#limits.openMs - this.#clock.monotonic();
    return leftMs <= 0 ? null : Math.ceil(leftMs / 1000);
  }

  async #of(tenant: string, kind: HelperKind): Promise<Breaker> {
    // Loaded by the first call: most tenants have no helpers.
    const { circuitBreaker, CircuitState: states, ConsecutiveBreaker, handleWhen } = await import('cockatiel');
    const key = keyOf(tenant, kind);
    const known = this.#known.get(key);
    if (known) return known;
    const policy = circuitBreaker(
      handleWhen((error) => isCode(error, UNAVAILABLE) || error instanceof Undecided),
      // This class says when a trial is due: the library reads the wall clock, which may be set.
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
      help: 'Circuit breakers of helper services by which this process refuses requests without asking, by helper',
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
  new Problem('helper_unavailable', 'The helper service failed several times behind each other, and is not asked for a while.', {
    retryAfter,
  });
