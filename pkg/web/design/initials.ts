/** How many colours avatar.css has. */
const HUES = 6;

const segments = new Intl.Segmenter();
const firstOf = (word: string): string => segments.segment(word)[Symbol.iterator]().next().value?.segment ?? '';

/** Returns the first letters of the first and the last word of a name, whatever the script. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._@-]+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const [first = '', last = ''] = [words[0], words.length > 1 ? words.at(-1) : ''];
  return (firstOf(first) + firstOf(last)).toLocaleUpperCase() || '?';
}

/** Returns the number of a colour, from 1; the same for the same name. */
export function hueOf(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973;
  return (sum % HUES) + 1;
}
