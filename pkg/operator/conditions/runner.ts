import { NameConflictError } from '../../kube/apply.ts';
import { isConflict, isInvalid, isNamespaceTerminating, isUnavailable, KubeError } from '../../kube/errors.ts';
import { done, requeueAfter, requeueBehindAfter, type Result } from '../../kube/result.ts';
import { LockTimeout } from '../../store/postgres/errors.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import type { ObserveStep } from './step-timer.ts';

export type Truth = 'True' | 'False' | 'Unknown';

/**
 * The result of a step: its condition, and the value that later steps need. A step may have a value before its condition is True.
 */
export interface StepResult<T> {
  readonly value: T;
  readonly status?: Truth;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterMs?: number;
  readonly isTerminal?: boolean;
}

/** A step that ran; `value` is absent if the step failed or did not run. */
export interface Step<T> {
  readonly type: string;
  readonly value?: T;
}

type Values<Needs> = { [Name in keyof Needs]: Needs[Name] extends Step<infer T> ? T : never };

export interface StepCondition {
  readonly type: string;
  readonly status: Truth;
  readonly reason: string;
  readonly message: string;
}

interface Failure extends StepCondition {
  /** Thrown after the status is written, so that the key is retried with back-off. */
  readonly error?: unknown;
  readonly retryAfterMs?: number;
  /** The step failed, and its cause is likely to last. */
  readonly isFailure?: boolean;
  /** Only a person can correct it: the resource is Stalled. */
  readonly isTerminal?: boolean;
}

/**
 * An expected failure of a step; reason and message go into its condition. The step is retried when something changes, or after
 * `retryAfterMs`.
 */
export class ConditionError extends Error {
  override readonly name = 'ConditionError';
  readonly reason: string;
  readonly status: Truth;
  readonly retryAfterMs: number | undefined;
  readonly isTerminal: boolean;

  constructor(
    reason: string,
    message: string,
    more: { status?: Truth; retryAfterMs?: number; isTerminal?: boolean; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.reason = reason;
    this.status = more.status ?? 'False';
    this.retryAfterMs = more.retryAfterMs;
    this.isTerminal = more.isTerminal ?? false;
  }
}

/** The operator does not watch the object that has the name. */
const NAME_CONFLICT_RETRY_MS = 30_000;
const MESSAGE_LENGTH = 1_000;

/**
 * Runs the steps of a reconcile and collects their conditions.
 *
 * - A step whose input is missing does not run and is Unknown, `WaitingFor<the first step that is missing>`; independent steps
 *   run.
 * - A failed step does not end the reconcile. Once the signal is aborted no further step begins: another operator may lead.
 */
export class ConditionRunner<Type extends string = string> {
  readonly #signal: AbortSignal;
  readonly #observe: ObserveStep | undefined;
  readonly #conditions: Failure[] = [];

  constructor(signal: AbortSignal, observe?: ObserveStep) {
    this.#signal = signal;
    this.#observe = observe;
  }

  async run<Needs extends Record<string, Step<unknown>>, T>(
    type: Type,
    needs: Needs,
    work: (values: Values<Needs>) => Promise<StepResult<T>>,
  ): Promise<Step<T>> {
    this.#signal.throwIfAborted();
    const missing = Object.values(needs).find((step) => !('value' in step));
    if (missing) {
      const why = this.#conditions.findLast((condition) => condition.type === missing.type)?.message;
      const message = `Waiting for ${missing.type}${why ? `: ${why}` : ''}`;
      this.#conditions.push({ type, status: 'Unknown', reason: `WaitingFor${missing.type}`, message });
      return { type };
    }
    const ended = this.#observe?.(type);
    try {
      const {
        value,
        status = 'True',
        ...outcome
      } = await work(Object.fromEntries(Object.entries(needs).map(([name, step]) => [name, step.value])) as Values<Needs>);
      this.#conditions.push({ type, status, ...outcome });
      return { type, value };
    } catch (error) {
      if (this.#signal.aborted) throw error;
      this.#conditions.push({ type, ...failureOf(error), isFailure: true });
      return { type };
    } finally {
      ended?.();
    }
  }

  get conditions(): readonly StepCondition[] {
    return this.#conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message }));
  }

  /** The first step that only a person can correct. */
  get terminal(): StepCondition | undefined {
    return this.#conditions.find(({ isTerminal }) => isTerminal === true);
  }

  /** The first condition that is False, otherwise the first that is Unknown: `Ready` shows it. */
  get worst(): StepCondition | undefined {
    return (
      this.#conditions.find(({ status }) => status === 'False') ?? this.#conditions.find(({ status }) => status === 'Unknown')
    );
  }

  /**
   * Returns when the controller reconciles again. Throws the first failure that is retried with back-off. Call it after the
   * status is written.
   */
  result(): Result {
    const failed = this.#conditions.find(({ error }) => error !== undefined);
    if (failed) throw failed.error;
    const waits = this.#conditions.filter(({ retryAfterMs }) => retryAfterMs !== undefined);
    if (waits.length === 0) return done;
    const { retryAfterMs: ms = 0, isFailure } = waits.reduce((soonest, wait) =>
      (wait.retryAfterMs ?? 0) < (soonest.retryAfterMs ?? 0) ? wait : soonest,
    );
    return isFailure ? requeueBehindAfter(ms) : requeueAfter(ms);
  }
}

const STORE_NAMES = { postgres: 'Postgres', redis: 'Redis', s3: 'the object store' } as const;
const STORE_REASONS = { postgres: 'PostgresUnavailable', redis: 'RedisUnavailable', s3: 'ObjectStoreUnavailable' } as const;

/** Returns the condition of a failure. Its message is the same on each try, so a lasting failure writes nothing. */
export function failureOf(error: unknown): Omit<Failure, 'type'> {
  if (error instanceof ConditionError) {
    const { status, reason, message, isTerminal, retryAfterMs } = error;
    return { status, reason, message, isTerminal, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
  if (error instanceof NameConflictError) {
    return {
      status: 'False',
      reason: 'NameConflict',
      message: error.message,
      isTerminal: true,
      retryAfterMs: NAME_CONFLICT_RETRY_MS,
    };
  }
  if (error instanceof StoreUnavailableError) {
    return {
      status: 'False',
      reason: STORE_REASONS[error.store],
      message: `${STORE_NAMES[error.store]} does not answer; will retry`,
      error,
    };
  }
  if (error instanceof LockTimeout)
    return { status: 'False', reason: 'Failed', message: 'a lock in Postgres was not obtained in time; will retry', error };
  if (error instanceof KubeError) return { status: 'False', ...kubeFailure(error), error };
  return { status: 'False', reason: 'Failed', message: text(error), error };
}

function kubeFailure(error: KubeError): { reason: string; message: string; isTerminal?: boolean } {
  if (isNamespaceTerminating(error)) return { reason: 'NamespaceTerminating', message: 'the namespace is being deleted' };
  if (isConflict(error)) return { reason: 'Conflict', message: 'an object was changed at the same time; will retry' };
  if (isUnavailable(error)) return { reason: 'ApiServerUnavailable', message: 'the API server does not answer; will retry' };
  const failure = { message: text(error), isTerminal: true };
  return isInvalid(error) ? { reason: 'Invalid', ...failure } : { reason: 'Refused', ...failure };
}

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, MESSAGE_LENGTH);
