import { NameConflictError } from '../kube/apply.ts';
import { isConflict, isInvalid, isNamespaceTerminating, isUnavailable, KubeError } from '../kube/errors.ts';
import { done, requeueAfter, type Result } from '../kube/result.ts';
import { StoreUnavailableError } from '../store/unavailable.ts';

export type Truth = 'True' | 'False' | 'Unknown';

/** What a step found: a condition, and the value that later steps need. A value may be there although the condition is not True yet. */
export interface Outcome<T> {
  readonly value: T;
  readonly status?: Truth;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterMs?: number;
  readonly isStuck?: boolean;
}

/** A step that ran; `value` is there only when it got one. */
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
  /** Only a person can mend it. */
  readonly isStuck?: boolean;
}

/** A step that did not get there for a reason known in advance, in words for a person. It is tried again when something changes, or after `retryAfterMs`. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
  readonly reason: string;
  readonly status: Truth;
  readonly retryAfterMs: number | undefined;
  readonly isStuck: boolean;

  constructor(reason: string, message: string, more: { status?: Truth; retryAfterMs?: number; isStuck?: boolean; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.reason = reason;
    this.status = more.status ?? 'False';
    this.retryAfterMs = more.retryAfterMs;
    this.isStuck = more.isStuck ?? false;
  }
}

/** A name is freed by somebody whom we do not watch. */
const NAME_CONFLICT_RETRY_MS = 30_000;
const MESSAGE_LENGTH = 1_000;

/**
 * Runs the steps of a reconcile and gathers what became of them.
 *
 * - A step whose input is missing does not run and is Unknown, `WaitingFor<the first step that is missing>`; all others run.
 * - No step's failure ends the reconcile. Once it is told to stop, no further step begins: another may lead by now.
 */
export class Steps {
  readonly #signal: AbortSignal;
  readonly #conditions: Failure[] = [];

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async run<Needs extends Record<string, Step<unknown>>, T>(
    type: string,
    needs: Needs,
    work: (values: Values<Needs>) => Promise<Outcome<T>>,
  ): Promise<Step<T>> {
    this.#signal.throwIfAborted();
    const missing = Object.values(needs).find((step) => !('value' in step));
    if (missing) {
      this.#conditions.push({ type, status: 'Unknown', reason: `WaitingFor${missing.type}`, message: `waits for ${missing.type}` });
      return { type };
    }
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
      this.#conditions.push({ type, ...failureOf(error) });
      return { type };
    }
  }

  get conditions(): readonly StepCondition[] {
    return this.#conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message }));
  }

  /** The first step that only a person can mend. */
  get stuck(): StepCondition | undefined {
    return this.#conditions.find(({ isStuck }) => isStuck === true);
  }

  /** The first that is False, else the first that is Unknown: what a person should hear of first. */
  get worst(): StepCondition | undefined {
    return this.#conditions.find(({ status }) => status === 'False') ?? this.#conditions.find(({ status }) => status === 'Unknown');
  }

  /** What the controller should do next; throws the first failure that wants the back-off. Call it after the status is written. */
  result(): Result {
    const failed = this.#conditions.find(({ error }) => error !== undefined);
    if (failed) throw failed.error;
    const waits = this.#conditions.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
    return waits.length === 0 ? done : requeueAfter(Math.min(...waits));
  }
}

const STORE_NAMES = { postgres: 'Postgres', redis: 'Redis', s3: 'the object store' } as const;
const STORE_REASONS = { postgres: 'PostgresUnavailable', redis: 'RedisUnavailable', s3: 'ObjectStoreUnavailable' } as const;

/** How a failure reads as a condition. Messages hold nothing that differs from try to try, so that a failure at rest writes nothing. */
export function failureOf(error: unknown): Omit<Failure, 'type'> {
  if (error instanceof NotYet) {
    const { status, reason, message, isStuck, retryAfterMs } = error;
    return { status, reason, message, isStuck, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
  if (error instanceof NameConflictError) {
    return { status: 'False', reason: 'NameConflict', message: error.message, isStuck: true, retryAfterMs: NAME_CONFLICT_RETRY_MS };
  }
  if (error instanceof StoreUnavailableError) {
    return {
      status: 'False',
      reason: STORE_REASONS[error.store],
      message: `${STORE_NAMES[error.store]} does not answer; it is tried again`,
      error,
    };
  }
  if (error instanceof KubeError) return { status: 'False', ...kubeFailure(error), error };
  return { status: 'False', reason: 'Failed', message: text(error), error };
}

function kubeFailure(error: KubeError): { reason: string; message: string; isStuck?: boolean } {
  if (isNamespaceTerminating(error)) return { reason: 'NamespaceTerminating', message: 'the namespace is being deleted' };
  if (isConflict(error)) return { reason: 'Conflict', message: 'somebody else changed an object at the same time; it is tried again' };
  if (isUnavailable(error)) return { reason: 'ApiServerUnavailable', message: 'the API server does not answer; it is tried again' };
  const failure = { message: text(error), isStuck: true };
  return isInvalid(error) ? { reason: 'Invalid', ...failure } : { reason: 'Refused', ...failure };
}

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, MESSAGE_LENGTH);
