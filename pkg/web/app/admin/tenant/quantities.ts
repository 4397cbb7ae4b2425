/** Sizes and times as the fields of a Kubernetes resource take them. */

const UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;
const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;

/** Returns exactly so many bytes in the largest unit that has no fraction: `10Gi`. */
export function quantityOf(bytes: number): string {
  let value = bytes;
  let step = 0;
  while (value >= 1024 && value % 1024 === 0 && step < UNITS.length - 1) {
    value /= 1024;
    step += 1;
  }
  return `${value}${UNITS[step] ?? ''}`;
}

/** Whole days or whole hours: a resource takes no other times. */
interface Period {
  readonly number: number;
  readonly unit: 'd' | 'h';
}

/** Returns days where they are whole, and hours otherwise. */
export const periodOf = (seconds: number): Period =>
  seconds % DAY_SECONDS === 0
    ? { number: seconds / DAY_SECONDS, unit: 'd' }
    : { number: Math.ceil(seconds / HOUR_SECONDS), unit: 'h' };
