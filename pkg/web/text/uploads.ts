import { part } from './language.ts';
import { en } from './uploads.en.ts';

/** The texts of uploads: the panel, the drop zone, the buttons. */
export const { t, count } = part(en, { de: async () => (await import('./uploads.de.ts')).de });
export type Key = keyof typeof en;
