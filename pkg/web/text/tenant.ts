import { part } from './language.ts';
import { en } from './tenant.en.ts';

/** The texts of what the Tenant resource sets. */
export const { t, count } = part(en, { de: async () => (await import('./tenant.de.ts')).de });
