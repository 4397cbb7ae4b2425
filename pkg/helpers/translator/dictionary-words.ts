import { WORDS } from './words.ts';

const PAIRS = WORDS.trim()
  .split(/\s+/)
  .map((pair) => pair.replaceAll('_', ' ').split('=') as [english: string, spanish: string]);
// The first translation of a word counts.
export const toSpanish = new Map(PAIRS.toReversed());
export const toEnglish = new Map(PAIRS.toReversed().map(([english, spanish]) => [spanish, english]));
