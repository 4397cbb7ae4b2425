import { part } from './language.ts';
import { en } from './shell.en.ts';

/** The texts of what surrounds each route. */
export const { t, count } = part(en, { de: async () => (await import('./shell.de.ts')).de });
export type Key = keyof typeof en;
