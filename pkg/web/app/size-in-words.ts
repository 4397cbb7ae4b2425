import { inDigits, locale } from '../text/language.ts';

const UNITS = ['kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** Returns bytes as people read them: 1 KB is 1,024 bytes; at most one decimal. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1024) return inUnit(bytes, 'byte', 'long');
  let size = bytes / 1024;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const rounded = size >= 10 ? Math.round(size) : Math.round(size * 10) / 10;
  return inUnit(rounded, UNITS[unit] ?? 'byte', 'short');
}

function inUnit(value: number, unit: string, unitDisplay: 'long' | 'short'): string {
  try {
    return new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay, maximumFractionDigits: 1 }).format(value);
  } catch {
    return `${inDigits(value)} ${unit}`;
  }
}
