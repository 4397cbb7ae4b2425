import { canonicalTag } from '../runtime/language-tags.ts';
import { Refusal } from './refusal.ts';

/**
 * The languages of one translator, in its own spelling. Without `allows`, every source goes with every target. `detects`: it
 * detects the source language itself.
 */
export interface Languages {
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  readonly detects: boolean;
  readonly allows?: (source: string, target: string) => boolean;
}

/** Returns a language tag in its canonical form. Throws `language_unknown` if it is not a tag (BCP 47). */
export function knownTag(tag: string, field: string): string {
  const canonical = tag.length <= 64 ? canonicalTag(tag) : null;
  if (canonical !== null) return canonical;
  throw new Refusal(
    'language_unknown',
    `${field}: "${tag.slice(0, 64)}" is not a language tag. Send one of BCP 47, such as en, es or pt-BR.`,
  );
}
