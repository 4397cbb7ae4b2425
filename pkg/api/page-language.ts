/** The languages that pages speak. */
export const PAGE_LANGUAGES = ['en', 'de'] as const;
export type PageLanguage = (typeof PAGE_LANGUAGES)[number];

/** The first of these tags (BCP 47, or with an underscore as some LMSs write it) whose language pages speak; else English. */
export function pageLanguage(wanted: readonly string[]): PageLanguage {
  for (const tag of wanted) {
    const language = tag.trim().toLowerCase().split(/[-_]/)[0];
    const spoken = PAGE_LANGUAGES.find((one) => one === language);
    if (spoken) return spoken;
  }
  return 'en';
}

/** At most so many of a header are read. */
const TAGS_MAX = 20;

/**
 * The tags of an Accept-Language header (RFC 9110 §12.5.4), the most wanted first; those that are not wanted at all are left out.
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
