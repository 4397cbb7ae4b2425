import { part } from './language.ts';
import { en } from './audit.en.ts';

/** The texts of the audit log. */
export const { t } = part(en, { de: async () => (await import('./audit.de.ts')).de });
export type Key = keyof typeof en;
