import { detect } from './detect.ts';
import { toEnglish, toSpanish } from './dictionary-words.ts';
import type { Provider } from './provider.ts';

const KNOWN = ['en', 'es'];

/**
 * Translates English and Spanish word by word, for trying the helpers without any service. Unknown words stay unchanged, and
 * there is no grammar. The reply names `dictionary`, so nobody mistakes it for a real translation.
 */
export const dictionary: Provider = {
  name: 'dictionary',
  most: { texts: 1_000, characters: 50_000 },
  languages: async () => ({ sources: KNOWN, targets: KNOWN, detects: true }),
  async translate(texts, source, target) {
    const from = source ?? detect(texts.join(' '));
    const words = target === 'es' ? toSpanish : toEnglish;
    return { texts: from === target ? texts : texts.map((text) => wordByWord(text, words)), source: from };
  },
};

const wordByWord = (text: string, words: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\p{L}+/gu, (word) => {
    const known = words.get(word.toLowerCase());
    return known === undefined ? word : inCaseOf(word, known);
  });

function inCaseOf(word: string, translated: string): string {
  if (word.length > 1 && word === word.toUpperCase()) return translated.toUpperCase();
  return word[0] === word[0]?.toUpperCase() ? translated.replace(/^\p{L}/u, (letter) => letter.toUpperCase()) : translated;
}
