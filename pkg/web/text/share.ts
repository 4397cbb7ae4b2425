import { part } from './language.ts';
import { en } from './share.en.ts';

/** The texts of the page of a share link. */
export const { t, count } = part(en, { de: async () => (await import('./share.de.ts')).de });
