import { AsyncLocalStorage } from 'node:async_hooks';
import { traceparentOf } from '../../runtime/traces.ts';
import { quoteLiteral } from './pool.ts';

/** The request that makes a change. */
export interface Origin {
  /** Internal id (users.id); null: a caller who is not signed in. */
  readonly userId: number | null;
  readonly ip: string;
  readonly requestId: string;
  /** True for changes that Carrel makes on its own because of the request. */
  readonly isSystem?: true;
}

/**
 * The current origin. pkg/http sets it around the handler of each request, and the beginning of a transaction reads it
 * (database.ts), so that no service passes it on. Without an origin, the change is the system's.
 */
export const origins = new AsyncLocalStorage<Origin>();

/** Attributes changes in transactions that begin in `work` to the system; entries of the audit log still name the request. */
export function asSystem<T>(work: () => T): T {
  const origin = origins.getStore();
  return origin ? origins.run({ ...origin, userId: null, isSystem: true }, work) : work();
}

/** Formats the origin for the functions of the audit log and the defaults of `traceparent`. */
function originText({ userId, ip, requestId, isSystem }: Origin): string {
  const trace = traceparentOf();
  return JSON.stringify({
    user: userId,
    ip,
    request: requestId,
    ...(isSystem && { system: true }),
    ...(trace === null ? {} : { trace }),
  });
}

/**
 * Returns SQL that names the request for the triggers of this transaction; empty without an origin. It is sent with the statement
 * that begins the transaction.
 */
export function setOrigin(): string {
  const origin = origins.getStore();
  return origin ? ` SET LOCAL carrel.origin = ${quoteLiteral(originText(origin))};` : '';
}

/**
 * Names the request for a statement that is a transaction of its own, as a condition that is always true; `parameter` is
 * `originParameter`.
 */
export const withOrigin = (parameter: string): string =>
  `set_config('carrel.origin', coalesce(${parameter}, ''), true) IS NOT NULL`;

export const currentRequestId = (): string | null => origins.getStore()?.requestId ?? null;

export function originParameter(): string | null {
  const origin = origins.getStore();
  return origin ? originText(origin) : null;
}
