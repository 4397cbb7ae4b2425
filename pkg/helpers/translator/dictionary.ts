import { Refusal } from '../refusal.ts';
import type { Provider } from './provider.ts';
import { WORDS } from './words.ts';

const PAIRS = WORDS.trim()
  .split(/\s+/)
  .map((pair) => pair.replaceAll('_', ' ').split('=') as [english: string, spanish: string]);
// The first translation of a word counts.
const toSpanish = new Map(PAIRS.toReversed());
const toEnglish = new Map(PAIRS.toReversed().map(([english, spanish]) => [spanish, english]));
const KNOWN = ['en', 'es'];

/**
 * English and Spanish word by word, for a try without any service: what it does not know stays as it is, and there is no grammar.
 * The reply says `dictionary`, so nobody takes it for a translation.
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

/** The language of which a text has more words. Throws `source_language_unclear` where none is ahead. */
function detect(text: string): string {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const [english, spanish] = [toSpanish, toEnglish].map((known) => words.filter((word) => known.has(word)).length);
  if (english === spanish) throw new Refusal('source_language_unclear');
  return (english ?? 0) > (spanish ?? 0) ? 'en' : 'es';
}

const wordByWord = (text: string, words: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\p{L}+/gu, (word) => {
    const known = words.get(word.toLowerCase());
    return known === undefined ? word : inCaseOf(word, known);
  });

function inCaseOf(word: string, translated: string): string {
  if (word.length > 1 && word === word.toUpperCase()) return translated.toUpperCase();
  return word[0] === word[0]?.toUpperCase() ? translated.replace(/^\p{L}/u, (letter) => letter.toUpperCase()) : translated;
}
