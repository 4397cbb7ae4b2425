import { part } from './language.ts';
import { en } from './password.en.ts';

/** The texts of changing one's own password. */
export const { t } = part(en, { de: async () => (await import('./password.de.ts')).de });
