import { part } from './language.ts';
import { en } from './schedules.en.ts';

/** The texts of schedules. */
export const { t, count } = part(en, { de: async () => (await import('./schedules.de.ts')).de });
export type Key = keyof typeof en;
