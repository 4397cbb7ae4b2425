/** What is between words: in any script, all that is neither a letter, a mark nor a digit. */
const BETWEEN = /[^\p{L}\p{M}\p{N}]+/u;

/** The words of a search, each once. A search without letters and digits is for its signs as they stand. */
export function wordsOf(q: string): string[] {
  const text = q.normalize('NFC').toLowerCase();
  const words = new Set(text.split(BETWEEN).filter((word) => word !== ''));
  return words.size === 0 ? [text.trim()] : [...words];
}

/** Letters that are written with another one or two where accents do not matter, and have no accent of their own. */
const PLAIN: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', ı: 'i', þ: 'th' };
const ACCENTS = /[\u0300-\u036f]/g;

const ASCII = /^[\x20-\x7e]*$/;

/** A character as words are compared: in lower case and without its accents. */
function folded(character: string): string {
  const lower = character.toLowerCase();
  return PLAIN[lower] ?? lower.normalize('NFD').replace(ACCENTS, '');
}

const START = '\uE000';
const END = '\uE001';

/** The name with each occurrence of a word between U+E000 and U+E001. What a name has of these characters itself is left out. */
export function highlighted(name: string, words: readonly string[]): string {
  const characters = Array.from(name.replaceAll(/[\uE000\uE001]/g, ''));
  const parts = ASCII.test(name) ? Array.from(name.toLowerCase()) : characters.map(folded);
  const text = parts.join('');
  const isHit = characters.map(() => false);
  for (const word of words.map((each) => Array.from(each).map(folded).join('')).filter((each) => each !== ''))
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) mark(isHit, parts, at, at + word.length);
  return characters
    .map((character, at) => {
      const [before, after] = [isHit[at - 1] ?? false, isHit[at + 1] ?? false];
      return isHit[at] ? `${before ? '' : START}${character}${after ? '' : END}` : character;
    })
    .join('');
}

/** The characters of which a part lies in the folded text between these places. */
function mark(isHit: boolean[], parts: readonly string[], from: number, to: number): void {
  let start = 0;
  for (const [at, part] of parts.entries()) {
    const end = start + part.length;
    if (start < to && end > from) isHit[at] = true;
    start = end;
  }
}
