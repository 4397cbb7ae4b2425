import { part } from './language.ts';
import { en } from './welcome.en.ts';

/** The texts of the welcome. */
export const { t } = part(en, { de: async () => (await import('./welcome.de.ts')).de });
export type Key = keyof typeof en;
