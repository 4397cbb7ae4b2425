import { part } from './language.ts';
import { en } from './lti.en.ts';

/** The texts of the pages of a launch: the course, the picker, the registration. */
export const { t, count } = part(en, { de: async () => (await import('./lti.de.ts')).de });
export type Key = keyof typeof en;
