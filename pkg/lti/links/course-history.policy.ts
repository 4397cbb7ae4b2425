/** The claim that Brightspace adds to each id_token; tools and teachers cannot change it. */
const BRIGHTSPACE = 'http://www.brightspace.com';
const HISTORY = 'Context.id.history';

/** Brightspace names five. */
const ORIGINS_MAX = 20;

/**
 * Returns the ids of the courses that the course of a launch is a copy of, newest first. Only a claim of the platform itself
 * counts (in the notation of LTI Core 1.3, appendix E.2: separated by commas, each URL-encoded). Custom parameters do not count,
 * because a teacher can edit them.
 */
export function courseHistory(claims: Readonly<Record<string, unknown>>): string[] {
  const said = (claims[BRIGHTSPACE] as Readonly<Record<string, unknown>> | null | undefined)?.[HISTORY];
  if (typeof said !== 'string') return [];
  const ids = said.split(',', ORIGINS_MAX).map((id) => decoded(id.trim()));
  return [...new Set(ids.filter((id) => id !== ''))];
}

/** Returns the text unchanged if it is not URL-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
