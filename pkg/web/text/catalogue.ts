import type { en } from './en.ts';

/**
 * A catalogue: the texts for people, by key. `{name}` is replaced by a value; a key that ends in `.one` or `.other` depends on a
 * number.
 */
export type Catalogue = Readonly<Record<keyof typeof en, string>>;
/** The keys that `t` accepts. */
export type Key = keyof typeof en;
/** The beginning of keys that depend on a number. */
export type Counted = Key extends infer K ? (K extends `${infer Stem}.one` ? Stem : never) : never;
