import { part } from './language.ts';
import { en } from './links.en.ts';

/** The texts of the page of links. */
export const { t, count } = part(en, { de: async () => (await import('./links.de.ts')).de });
