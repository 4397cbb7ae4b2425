import { part } from './language.ts';
import { en } from './fields.en.ts';

/** The texts for what the API refuses at a field. */
export const { t } = part(en, { de: async () => (await import('./fields.de.ts')).de });
export type Key = keyof typeof en;
