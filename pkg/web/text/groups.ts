import { part } from './language.ts';
import { en } from './groups.en.ts';

/** The texts of groups. */
export const { t, count } = part(en, { de: async () => (await import('./groups.de.ts')).de });
