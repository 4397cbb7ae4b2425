import { part } from './language.ts';
import { en } from './sharing.en.ts';

/** The texts of the dialog that shares a file or folder, and of links. */
export const { t, count } = part(en, { de: async () => (await import('./sharing.de.ts')).de });
export type Key = keyof typeof en;
