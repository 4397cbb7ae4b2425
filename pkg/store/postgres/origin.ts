import { AsyncLocalStorage } from 'node:async_hooks';
import { traceparentOf } from '../../runtime/traces.ts';
import { quoteLiteral } from './pool.ts';

/** Whose request a change is made by. */
export interface Origin {
  /** Internal id (users.id); null: somebody who is not signed in. */
  readonly userId: number | null;
  readonly ip: string;
  readonly requestId: string;
  /** Whether it is what Carrel does by itself, for the sake of the request. */
  readonly isSystem?: true;
}

/**
 * The origin of what runs now: set by pkg/http around the handler of each request, read where a transaction begins (database.ts),
 * so that no service passes it on. Where there is none, the change is the system's.
 */
export const origins = new AsyncLocalStorage<Origin>();

/**
 * What `work` changes in transactions that begin in it is the system's, and the entries of the audit log name the request all the
 * same.
 */
export function asSystem<T>(work: () => T): T {
  const origin = origins.getStore();
  return origin ? origins.run({ ...origin, userId: null, isSystem: true }, work) : work();
}

/** As the functions of the audit log and the defaults of `traceparent` read it. */
export function originText({ userId, ip, requestId, isSystem }: Origin): string {
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
 * Tells the triggers of this transaction whose request it is; empty where there is none. It goes with the statement that begins
 * the transaction.
 */
export function setOrigin(): string {
  const origin = origins.getStore();
  return origin ? ` SET LOCAL carrel.origin = ${quoteLiteral(originText(origin))};` : '';
}

/**
 * The same for a statement that is a transaction of its own, as a condition that is always true; `parameter` is
 * `originParameter`.
 */
export const withOrigin = (parameter: string): string =>
  `set_config('carrel.origin', coalesce(${parameter}, ''), true) IS NOT NULL`;

export const currentRequestId = (): string | null => origins.getStore()?.requestId ?? null;

export function originParameter(): string | null {
  const origin = origins.getStore();
  return origin ? originText(origin) : null;
}
