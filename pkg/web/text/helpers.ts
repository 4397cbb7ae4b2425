import { part } from './language.ts';
import { en } from './helpers.en.ts';

/** The texts of helpers in a file's menu. */
export const { t, count } = part(en, { de: async () => (await import('./helpers.de.ts')).de });
export type Key = keyof typeof en;
