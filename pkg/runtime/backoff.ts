import type { Random } from './random.ts';

export interface BackOff {
  /** First delay, in milliseconds. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** Share of the delay that is random, 0 to 1: the delay lies in [d × (1 − jitter), d]. */
  readonly jitter: number;
}

/**
 * Returns the milliseconds to wait before try `attempt` (1 is the first retry). The delay doubles from `baseMs` up to `maxMs`;
 * jitter then takes off a random share.
 */
export function backOffMs(backOff: BackOff, attempt: number, random: Random): number {
  const full = Math.min(backOff.maxMs, backOff.baseMs * 2 ** Math.min(Math.max(attempt - 1, 0), 50));
  return full * (1 - backOff.jitter * random.fraction());
}
