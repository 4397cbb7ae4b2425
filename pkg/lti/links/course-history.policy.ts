/** What Brightspace adds to each id_token; tools and teachers cannot change it. */
const BRIGHTSPACE = 'http://www.brightspace.com';
const HISTORY = 'Context.id.history';

/** Brightspace names five. */
const ORIGINS_MAX = 20;

/**
 * The ids of the courses that the course of a launch is a copy of, the newest first, as far as the platform itself says so in a
 * claim of its own (LTI Core 1.3, appendix E.2: with commas between them, each URL-encoded). Of custom parameters none counts: a
 * teacher can edit them.
 */
export function courseHistory(claims: Readonly<Record<string, unknown>>): string[] {
  const said = (claims[BRIGHTSPACE] as Readonly<Record<string, unknown>> | null | undefined)?.[HISTORY];
  if (typeof said !== 'string') return [];
  const ids = said.split(',', ORIGINS_MAX).map((id) => decoded(id.trim()));
  return [...new Set(ids.filter((id) => id !== ''))];
}

/** As it stands, where it is not URL-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
