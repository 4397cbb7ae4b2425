import type { Languages } from '../languages.ts';

/** One way to translate: a service or a program. Texts and tags come in as the translator has bounded and matched them. */
export interface Provider {
  readonly name: string;
  /** The most texts and characters (UTF-16 code units) of one `translate`. */
  readonly most: { readonly texts: number; readonly characters: number };
  /** Throws when they cannot be read. */
  languages(signal: AbortSignal): Promise<Languages>;
  /**
   * As many texts as came in, in their order, and the source language where it was found out.
   * `source` null: find it out; throws `source_language_unclear` where that fails. Throws anything else when it does not work.
   */
  translate(texts: readonly string[], source: string | null, target: string, signal: AbortSignal): Promise<Translated>;
}

export interface Translated {
  readonly texts: readonly string[];
  readonly source: string | null;
}
