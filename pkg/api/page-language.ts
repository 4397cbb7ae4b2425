/** The languages in which pages are available. */
const PAGE_LANGUAGES = ['en', 'de'] as const;
export type PageLanguage = (typeof PAGE_LANGUAGES)[number];

/**
 * Returns the language of the first tag that pages support (BCP 47, or with an underscore, as some LMSs write it); otherwise
 * English.
 */
export function pageLanguage(wanted: readonly string[]): PageLanguage {
  for (const tag of wanted) {
    const language = tag.trim().toLowerCase().split(/[-_]/)[0];
    const spoken = PAGE_LANGUAGES.find((one) => one === language);
    if (spoken) return spoken;
  }
  return 'en';
}

/** The most tags that are read from a header. */
const TAGS_MAX = 20;

/**
 * Returns the tags of an Accept-Language header (RFC 9110 §12.5.4), the most preferred first, without those that are excluded by
 * `q=0`.
 */
export function acceptedLanguages(header: string): string[] {
  return header
    .split(',', TAGS_MAX)
    .map((range, at) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return { tag, weight: weight === undefined ? 1 : Number(weight) || 0, at };
    })
    .filter(({ tag, weight }) => tag !== '' && weight > 0)
    .sort((one, other) => other.weight - one.weight || one.at - other.at)
    .map(({ tag }) => tag);
}
