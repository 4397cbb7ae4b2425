import { Refusal } from '../refusal.ts';
import { toEnglish, toSpanish } from './dictionary-words.ts';

/** English or Spanish: that of which a text has more words. Throws `source_language_unclear` where none is ahead. */
export function detect(text: string): 'en' | 'es' {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const english = words.filter((word) => toSpanish.has(word)).length;
  const spanish = words.filter((word) => toEnglish.has(word)).length;
  if (english === spanish) throw new Refusal('source_language_unclear');
  return english > spanish ? 'en' : 'es';
}
