import type { Catalogue, Counted, Key } from './catalogue.ts';
import { en } from './en.ts';

export type { Key } from './catalogue.ts';

type Values = Readonly<Record<string, string | number>>;

/**
 * The language of the document, which the server chose, and its texts. English is part of the pages; another comes when it is
 * wanted.
 */
let language = 'en';
let texts: Catalogue = en;

/** The languages beside English, as BCP 47 names them. */
const OTHERS: Readonly<Record<string, () => Promise<Catalogue>>> = { de: async () => (await import('./de.ts')).de };

/** Makes the pages speak `wanted`; of a language without a catalogue, English. */
export async function speak(wanted: string): Promise<void> {
  const load = Object.hasOwn(OTHERS, wanted) ? OTHERS[wanted] : undefined;
  texts = load ? await load() : en;
  language = load ? wanted : 'en';
}

export const isEnglish = (): boolean => texts === en;

/** The text of a key, with `values` put in; numbers as the language writes them. */
export const t = (key: Key, values: Values = {}): string => filled(texts[key], values);

/** The text for so many: `{count}` in it is the number. */
export const count = (key: Counted, number: number, values: Values = {}): string => {
  const form = new Intl.PluralRules(language).select(number) === 'one' ? 'one' : 'other';
  return filled(texts[`${key}.${form}` as Key], { ...values, count: number });
};

const filled = (text: string, values: Values): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === 'number' ? inDigits(value) : value;
  });

export const inDigits = (number: number): string => new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }).format(number);

/** Date and time as the reader's language and time zone write them. */
export const timeInWords = (iso: string): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));

/** The reader's own kind of the language (de-AT, en-GB), where the browser knows it. */
const locale = (): string => globalThis.navigator?.languages?.find((tag) => tag.split('-')[0] === language) ?? language;
