import type { Catalogue, Counted, Key } from './catalogue.ts';
import { en } from './en.ts';

export type { Key } from './catalogue.ts';

type Values = Readonly<Record<string, string | number>>;

/**
 * The language of the document, which the server chose, and its texts. English is part of the pages; another language is loaded
 * when needed.
 */
let language = 'en';
let texts: Catalogue = en;

/** The languages other than English, by BCP 47 tag. */
const OTHERS: Readonly<Record<string, () => Promise<Catalogue>>> = { de: async () => (await import('./de.ts')).de };

/** Switches the pages to the language `wanted`; to English if it has no catalogue. */
export async function speak(wanted: string): Promise<void> {
  const load = Object.hasOwn(OTHERS, wanted) ? OTHERS[wanted] : undefined;
  texts = load ? await load() : en;
  language = load ? wanted : 'en';
}

export const isEnglish = (): boolean => texts === en;

/** Returns the text of a key, with `values` filled in; numbers in the notation of the language. */
export const t = (key: Key, values: Values = {}): string => filled(texts[key], values);

/** Returns the text for a number; `{count}` in it is the number. */
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

/** Returns date and time in the notation of the reader's language and time zone. */
export const timeInWords = (iso: string): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));

/** Returns the reader's own variant of the language (de-AT, en-GB), if the browser knows it. */
const locale = (): string => globalThis.navigator?.languages?.find((tag) => tag.split('-')[0] === language) ?? language;
