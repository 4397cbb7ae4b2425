import { part } from './language.ts';
import { en } from './files.en.ts';

/** The texts of the files. */
export const { t, count } = part(en, { de: async () => (await import('./files.de.ts')).de });
export type Key = keyof typeof en;
