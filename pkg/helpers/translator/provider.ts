import type { Languages } from '../languages.ts';

/** A translation service or program. The translator has already bounded the texts and matched the tags. */
export interface Provider {
  readonly name: string;
  /** The most texts and characters (UTF-16 code units) of one `translate`. */
  readonly most: { readonly texts: number; readonly characters: number };
  /** Throws if the languages cannot be read. */
  languages(signal: AbortSignal): Promise<Languages>;
  /**
   * Returns as many texts as it gets, in their order, and the source language if detected. `source` null: detect it; throws
   * `source_language_unclear` if that fails. Throws any other error if it does not work.
   */
  translate(texts: readonly string[], source: string | null, target: string, signal: AbortSignal): Promise<Translated>;
}

export interface Translated {
  readonly texts: readonly string[];
  readonly source: string | null;
}
