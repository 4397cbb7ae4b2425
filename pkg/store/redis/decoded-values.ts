import { LRUCache } from 'lru-cache';

const VALUES_MAX = 1_000;
/** The limit of all texts together. */
const CHARACTERS_MAX = 2 * 1024 * 1024;

/**
 * Decoded values of cached texts. While Redis returns the same text under a key, it is not decoded again: that costs more than
 * the comparison. The cache decides beforehand whether a text may be served, so nothing here is out of date.
 *
 * The values are shared: nobody may change one. `decode` returns undefined for a text of another shape.
 */
export class DecodedValues<T extends object> {
  readonly #decode: (text: string) => T | undefined;
  readonly #decoded = new LRUCache<string, { readonly text: string; readonly value: T }>({
    max: VALUES_MAX,
    maxSize: CHARACTERS_MAX,
    sizeCalculation: ({ text }) => text.length + 1,
  });

  constructor(decode: (text: string) => T | undefined) {
    this.#decode = decode;
  }

  of(key: string, text: string): T | undefined {
    const known = this.#decoded.get(key);
    if (known?.text === text) return known.value;
    const value = this.#decode(text);
    if (value) this.#decoded.set(key, { text, value });
    return value;
  }
}
