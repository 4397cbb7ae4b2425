import type { BackOff } from '../runtime/backoff.ts';
import type { Random } from '../runtime/random.ts';
import { MINUTE_MS, DAY_MS } from '../runtime/time.ts';

/** Waits between attempts, in seconds: ten attempts over about 3 days (docs/design/events-and-jobs.md, Webhooks). */
export const RETRY_SECONDS: readonly number[] = [5, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400, 86_400];

/** Waits after attempts that failed for an internal reason, which says nothing about the receiver. */
export const INTERNAL_BACK_OFF: BackOff = { baseMs: 1_000, maxMs: 15 * MINUTE_MS, jitter: 0.5 };

/**
 * The share by which a wait is shortened or lengthened at random, so that attempts that failed together are not repeated
 * together.
 */
const JITTER = 0.2;
/** The longest `Retry-After` that is obeyed. */
const RETRY_AFTER_MAX_MS = DAY_MS;

/**
 * Returns the milliseconds until the next attempt, at least those that the receiver requested; null after the last attempt.
 * `sent` is the number of attempts made.
 */
export function retryDelayMs(
  { sent, retryAfterMs }: { sent: number; retryAfterMs: number },
  schedule: readonly number[],
  random: Random,
): number | null {
  const seconds = schedule[sent - 1];
  if (seconds === undefined) return null;
  const scheduled = seconds * 1000 * (1 - JITTER + 2 * JITTER * random.fraction());
  return Math.max(scheduled, Math.min(retryAfterMs, RETRY_AFTER_MAX_MS));
}

/**
 * Returns `Retry-After` as milliseconds from `now`: seconds or an HTTP date (RFC 9110 §10.2.3); 0 if it is missing or unreadable.
 * If it is sent several times, the first counts.
 */
export function retryAfterMs(header: string | readonly string[] | undefined, now: Date): number {
  const text = [header].flat()[0]?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = text.endsWith('GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - now.getTime());
}
