import { part } from './language.ts';
import { en } from './preview.en.ts';

/** The texts of the preview, inside of its frame too. */
export const { t, count } = part(en, { de: async () => (await import('./preview.de.ts')).de });
export type Key = keyof typeof en;
