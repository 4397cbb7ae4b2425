import { part } from './language.ts';
import { en } from './admin.en.ts';

/** The texts of administration. */
export const { t, count } = part(en, { de: async () => (await import('./admin.de.ts')).de });
export type Key = keyof typeof en;
