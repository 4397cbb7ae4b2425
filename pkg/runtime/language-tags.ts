/** Returns a language tag in its canonical form (`eng` → `en`, `ES-mx` → `es-MX`); null if it is not a tag (BCP 47). */
export function canonicalTag(tag: string): string | null {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch {
    return null;
  }
}

/**
 * Returns the entry of `known` that serves the canonical `tag`, by lookup (RFC 4647 §3.4): the tag itself, then ever shorter
 * prefixes of it, ignoring case. A language's usual script counts before the bare language: zh-TW finds zh-Hant if it is known,
 * not zh. Returns undefined if no entry does.
 */
export function lookUpTag(tag: string, known: readonly string[]): string | undefined {
  const byTag = new Map(known.map((each) => [each.toLowerCase(), each]));
  const ranges = shorterAndShorter(tag);
  const { language, script } = new Intl.Locale(tag).maximize();
  if (script !== undefined) ranges.splice(-1, 0, `${language}-${script}`);
  return ranges.map((range) => byTag.get(range.toLowerCase())).find((found) => found !== undefined);
}

function shorterAndShorter(tag: string): string[] {
  const subtags = tag.split('-');
  const ranges: string[] = [];
  while (subtags.length > 0) {
    ranges.push(subtags.join('-'));
    subtags.pop();
    // A singleton introduces the subtag after it, so both go together.
    if (subtags.at(-1)?.length === 1) subtags.pop();
  }
  return ranges;
}
