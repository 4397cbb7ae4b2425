import type { EgressError } from '../../net/egress-error.ts';
import type { Attempt } from './delivery-store.ts';

/** An attempt by what the receiver answered. `error`: null if the receiver has the delivery. */
export type ReplyResult = Pick<Attempt, 'status_code' | 'error'>;

/** The receiver never wants a delivery again (RFC 9110 §15.5.11). */
const GONE = 410;

/** Any 2xx is a success (docs/receive-webhooks.md). */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

export const resultOfReply = (status: number): ReplyResult => ({
  status_code: status,
  error: isSuccess(status) ? null : `the receiver answered ${status}`,
});

/** Returns the result without a complete reply. Only the status counts: a 2xx with an incomplete body is a success. */
export function resultOfEgressError({ status, message }: Pick<EgressError, 'status' | 'message'>): ReplyResult {
  return { status_code: status ?? null, error: status !== undefined && isSuccess(status) ? null : message };
}

/** The next state of a delivery after an attempt. */
export type Outcome = { readonly state: 'delivered' | 'failed' } | { readonly state: 'retried'; readonly delayMs: number };

/** `delayMs` is the time until the schedule's next attempt; null if the schedule has no more. */
export function outcomeOf({ status_code, error }: ReplyResult, delayMs: number | null): Outcome {
  if (error === null) return { state: 'delivered' };
  return status_code === GONE || delayMs === null ? { state: 'failed' } : { state: 'retried', delayMs };
}

/** The receiver's health after an attempt; `gone` disables the webhook. */
export type Health = 'well' | 'failing' | 'gone';

export function healthOf({ status_code, error }: ReplyResult): Health {
  if (error === null) return 'well';
  return status_code === GONE ? 'gone' : 'failing';
}
