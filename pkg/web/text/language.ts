type Values = Readonly<Record<string, string | number>>;

/** The texts of one part of the pages in another language than English: the same keys. */
export type Texts<En> = Readonly<Record<keyof En, string>>;

/** The languages of the pages, by BCP 47 tag, with their own names. English is part of the scripts; others are loaded. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

/** The loaders of the other languages. */
type Others<En> = { readonly [L in Exclude<Language, 'en'>]: () => Promise<Texts<En>> };

/** The beginning of the keys that depend on a number. */
type Counted<Key> = Key extends `${infer Stem}.one` ? Stem : never;

/** One part's texts in the language of the page. */
interface Part<Key extends string> {
  /** Returns the text of a key, with `values` filled in; numbers in the notation of the language. */
  readonly t: (key: Key, values?: Values) => string;
  /** Returns the text for a number; `{count}` in it is the number. */
  readonly count: (key: Counted<Key>, number: number, values?: Values) => string;
}

let language: Language = 'en';
const parts = new Set<{ load(): Promise<void> }>();
let loading: Promise<unknown> = Promise.resolve();

/**
 * Declares the texts of a part of the pages (a route, a page): `{name}` is replaced by a value; a key that ends in `.one` or
 * `.other` depends on a number. The part is in English until `speak` or `textsLoaded` has loaded the language of the page.
 */
export function part<const En extends Readonly<Record<string, string>>>(en: En, others: Others<En>): Part<keyof En & string> {
  type Key = keyof En & string;
  let texts: Texts<En> = en;
  const own = {
    async load() {
      const wanted = language;
      // Without their script the texts stay in English: the page itself still works.
      const loaded = wanted === 'en' ? en : await others[wanted]().catch(() => en);
      if (wanted === language) texts = loaded;
    },
  };
  parts.add(own);
  if (language !== 'en') loading = Promise.all([loading, own.load()]);
  return {
    t: (key, values = {}) => filled(texts[key], values),
    count: (key, number, values = {}) => {
      const form = new Intl.PluralRules(language).select(number) === 'one' ? 'one' : 'other';
      return filled(texts[`${key}.${form}` as Key], { ...values, count: number });
    },
  };
}

/** Switches all parts to the language `wanted`; to English if it is not one of LANGUAGES. */
export async function speak(wanted: string): Promise<void> {
  language = Object.hasOwn(LANGUAGES, wanted) ? (wanted as Language) : 'en';
  loading = Promise.all([...parts].map((one) => one.load()));
  await loading;
}

/** Waits for the texts of the parts that were declared since `speak`: the parts of a script that has just been loaded. */
export async function textsLoaded(): Promise<void> {
  await loading;
}

export const currentLanguage = (): Language => language;
export const isEnglish = (): boolean => language === 'en';

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
export const locale = (): string => globalThis.navigator?.languages?.find((tag) => tag.split('-')[0] === language) ?? language;
