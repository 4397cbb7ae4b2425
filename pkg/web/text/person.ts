import { part } from './language.ts';
import { en } from './person.en.ts';

/** The texts of one person, for administrators. */
export const { t, count } = part(en, { de: async () => (await import('./person.de.ts')).de });
