import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../runtime/time.ts';

/** Caches formatters: making one takes some 50 µs. Swedish writes times as ISO 8601 does: 2026-01-31 12:00:00. */
const formats = new LRUCache<string, Intl.DateTimeFormat>({
  max: 64,
  memoMethod: (timeZone) => new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
});

/** Returns what the clocks of a zone show at `instant`, written as a time of UTC, in whole seconds, for years 1000 to 9999. */
export const localTimeOf = (instant: Date, timeZone: string): Date =>
  new Date(`${formats.memo(timeZone).format(instant).replace(' ', 'T')}Z`);

/**
 * Returns when the clocks of a zone show `local`, a time of UTC. Returns the first time if they do so twice, and null if a change
 * of the clock skips it.
 */
export function instantOf(local: Date, timeZone: string): Date | null {
  // The clocks change at most once in the two days around a time, so one of the two offsets is the right one.
  const [before, after] = [-DAY_MS, DAY_MS].map((ms) => offsetOf(local.getTime() + ms, timeZone)) as [number, number];
  for (const offset of [Math.max(before, after), Math.min(before, after)]) {
    const instant = local.getTime() - offset;
    if (offsetOf(instant, timeZone) === offset) return new Date(instant);
  }
  return null;
}

/** Returns how far ahead of UTC the clocks of a zone are, in milliseconds. */
const offsetOf = (instant: number, timeZone: string): number => localTimeOf(new Date(instant), timeZone).getTime() - instant;
