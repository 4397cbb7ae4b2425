import { part } from './language.ts';
import { en } from './webhooks.en.ts';

/** The texts of webhooks. */
export const { t, count } = part(en, { de: async () => (await import('./webhooks.de.ts')).de });
export type Key = keyof typeof en;
