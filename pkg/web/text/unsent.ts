import { part } from './language.ts';
import { en } from './unsent.en.ts';

/** The texts of the question before something is lost that somebody has entered. */
export const { t } = part(en, { de: async () => (await import('./unsent.de.ts')).de });
