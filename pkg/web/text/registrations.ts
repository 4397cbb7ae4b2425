import { part } from './language.ts';
import { en } from './registrations.en.ts';

/** The texts of one LMS. */
export const { t, count } = part(en, { de: async () => (await import('./registrations.de.ts')).de });
export type Key = keyof typeof en;
