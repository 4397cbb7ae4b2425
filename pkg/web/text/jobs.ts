import { part } from './language.ts';
import { en } from './jobs.en.ts';

/** The texts of jobs. */
export const { t, count } = part(en, { de: async () => (await import('./jobs.de.ts')).de });
export type Key = keyof typeof en;
