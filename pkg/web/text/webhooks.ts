import { part } from './language.ts';
import { en } from './webhooks.en.ts';

/** The texts of webhooks. */
export const { t, count } = part(en, { de: async () => (await import('./webhooks.de.ts')).de });
export type Key = keyof typeof en;

type NamedEvent<K = Key> = K extends `event.${infer Event}` ? Event : never;

/** The events that have a name for people, in the order in which they are offered. */
export const NAMED_EVENTS = Object.keys(en)
  .filter((key) => key.startsWith('event.'))
  .map((key) => key.slice('event.'.length)) as NamedEvent[];
