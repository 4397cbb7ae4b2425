import { part } from './language.ts';
import { en } from './problems.en.ts';

/** The texts for the codes of the API. */
export const { t, count } = part(en, { de: async () => (await import('./problems.de.ts')).de });
export type Key = keyof typeof en;
