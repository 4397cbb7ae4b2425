import type { en } from './en.ts';

/** A catalogue: what a person reads, by key. `{name}` is put in; a key that ends in `.one` or `.other` goes by a number. */
export type Catalogue = Readonly<Record<keyof typeof en, string>>;
/** What of a catalogue `t` gives. */
export type Key = keyof typeof en;
/** The beginning of keys that go by a number. */
export type Counted = Key extends infer K ? (K extends `${infer Stem}.one` ? Stem : never) : never;
