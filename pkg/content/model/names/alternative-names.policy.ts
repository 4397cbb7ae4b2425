import { characters, EXTENSION_MAX_CHARACTERS, NAME_MAX_CHARACTERS, normalName } from './names.policy.ts';

/** Alternatives to a taken name that are tried. */
export const NAME_ATTEMPTS = 100;

/**
 * Returns the `attempt`-th alternative for a taken name: `report.pdf` → `report (1).pdf`, `report (2).pdf`… The stem is
 * shortened where the name would grow too long, so what comes out is always a name.
 */
export const alternativeName = (name: string, attempt: number): string => nameWith(name, String(attempt));

/** Returns the name with a word in brackets before its suffix: `report.pdf` → `report (es).pdf`. Shortens the stem if need be. */
export function nameWith(name: string, word: string): string {
  const dot = name.lastIndexOf('.');
  const cut = dot > 0 && characters(name.slice(dot)) <= EXTENSION_MAX_CHARACTERS + 1 ? dot : name.length;
  const suffix = ` (${word})${name.slice(cut)}`;
  const maxStem = NAME_MAX_CHARACTERS - characters(suffix);
  const stem = Array.from(name.slice(0, cut)).slice(0, maxStem).join('');
  return normalName(`${stem}${suffix}`);
}
