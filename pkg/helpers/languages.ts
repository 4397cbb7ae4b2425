import { Refusal } from './refusal.ts';

/**
 * The languages of one translator, in its own spelling. `allows` is left out where every source goes with every target.
 * `detects`: it finds the source language by itself.
 */
export interface Languages {
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  readonly detects: boolean;
  readonly allows?: (source: string, target: string) => boolean;
}

/** A language tag in its canonical form: `eng` → `en`, `ES-mx` → `es-MX`. Throws `language_unknown` for what is no tag (BCP 47). */
export function canonicalTag(tag: string, field: string): string {
  try {
    const [canonical] = tag.length <= 64 ? Intl.getCanonicalLocales(tag) : [];
    if (canonical !== undefined) return canonical;
  } catch {
    // the same message
  }
  throw new Refusal('language_unknown', `${field}: "${tag.slice(0, 64)}" is no language tag. Send one of BCP 47, such as en, es or pt-BR.`);
}

/**
 * The entry of `known` that serves the canonical `tag`, by lookup (RFC 4647 §3.4): the tag itself, then ever shorter beginnings of it, whatever the case.
 * A language's usual script counts before the bare language: zh-TW finds zh-Hant where there is one, not zh.
 */
export function lookUp(tag: string, known: readonly string[]): string | undefined {
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
    // A singleton introduces what follows it, so it goes with that.
    if (subtags.at(-1)?.length === 1) subtags.pop();
  }
  return ranges;
}
