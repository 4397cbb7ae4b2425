import { part } from './language.ts';
import { en } from './sign-in.en.ts';

/** The texts of signing in and of setting a password. */
export const { t, count } = part(en, { de: async () => (await import('./sign-in.de.ts')).de });
export type Key = keyof typeof en;
