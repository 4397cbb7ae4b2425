import { part } from './language.ts';
import { en } from './files-later.en.ts';

/** The texts of what the pages of files load when somebody asks for it. */
export const { t, count } = part(en, { de: async () => (await import('./files-later.de.ts')).de });
