import { part } from './language.ts';
import { en } from './usage.en.ts';

/** The texts of the usage of the tenant. */
export const { t, count } = part(en, { de: async () => (await import('./usage.de.ts')).de });
