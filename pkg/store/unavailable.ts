import { types } from 'node:util';

/** Returns true for an Error of any realm: errors of Node's own modules are not `instanceof Error` inside a test's sandbox. */
export const isError = (value: unknown): value is Error => types.isNativeError(value);

/**
 * A store does not answer: it cannot be reached, is shutting down, has no free connection for us or took too long. The operation
 * may or may not have happened. HTTP answers 503 with `Retry-After` (docs/design/testing.md).
 */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  readonly store: 'postgres' | 'redis' | 's3';

  constructor(store: 'postgres' | 'redis' | 's3', cause: unknown) {
    super(`${store} is not available: ${isError(cause) ? cause.message || cause.name : String(cause)}`, { cause });
    this.store = store;
  }
}
