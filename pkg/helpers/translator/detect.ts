import { Refusal } from '../refusal.ts';
import { toEnglish, toSpanish } from './dictionary-words.ts';

/** Returns English or Spanish, whichever has more of the text's words. Throws `source_language_unclear` if neither has more. */
export function detect(text: string): 'en' | 'es' {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const english = words.filter((word) => toSpanish.has(word)).length;
  const spanish = words.filter((word) => toEnglish.has(word)).length;
  if (english === spanish) throw new Refusal('source_language_unclear');
  return english > spanish ? 'en' : 'es';
}
