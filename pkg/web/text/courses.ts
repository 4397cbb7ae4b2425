import { part } from './language.ts';
import { en } from './courses.en.ts';

/** The texts of courses. */
export const { t, count } = part(en, { de: async () => (await import('./courses.de.ts')).de });
export type Key = keyof typeof en;
