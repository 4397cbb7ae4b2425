/** Characters between words: in any script, everything that is neither a letter, a mark nor a digit. */
const BETWEEN = /[^\p{L}\p{M}\p{N}]+/u;

/** Returns the words of a search, each once. A search without letters and digits looks for its signs as they are. */
export function wordsOf(q: string): string[] {
  const text = q.normalize('NFC').toLowerCase();
  const words = new Set(text.split(BETWEEN).filter((word) => word !== ''));
  return words.size === 0 ? [text.trim()] : [...words];
}

/** Letters that stand for one or two others where accents do not matter, although they have no accent of their own. */
const PLAIN: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', ı: 'i', þ: 'th' };
const ACCENTS = /[\u0300-\u036f]/g;

const ASCII = /^[\x20-\x7e]*$/;

/** Returns a character as words are compared: in lower case and without its accents. */
function folded(character: string): string {
  const lower = character.toLowerCase();
  return PLAIN[lower] ?? lower.normalize('NFD').replace(ACCENTS, '');
}

/**
 * Marks of a hit while its name becomes JSON, which no name has. They and their escapes are Latin-1: with U+E000 and U+E001
 * themselves, V8 takes two bytes for each character of a page, and twice the time to send it.
 */
const START = '\u0080';
const END = '\u0081';

const foldedText = (text: string): string => (ASCII.test(text) ? text.toLowerCase() : Array.from(text).map(folded).join(''));

/**
 * Returns the name, as JSON, with each occurrence of a word between U+E000 and U+E001. Drops these characters of the name itself.
 */
export function highlightOf(name: string, words: readonly string[]): string {
  const texts = words.map(foldedText).filter((each) => each !== '');
  const marked = ASCII.test(name)
    ? markedPlain(name, texts)
    : markedFolded(Array.from(name.replaceAll(/[\u0080\u0081\uE000\uE001]/g, '')), texts);
  return JSON.stringify(marked)
    .replaceAll(START, String.raw`\ue000`)
    .replaceAll(END, String.raw`\ue001`);
}

/** Folding keeps the length of an ASCII name, so a hit in the folded name is at the same position. */
function markedPlain(name: string, words: readonly string[]): string {
  const hits = occurrences(name.toLowerCase(), words).sort(([a], [b]) => a - b);
  let marked = '';
  let done = 0;
  for (let at = 0; at < hits.length;) {
    const [start] = hits[at] as Span;
    let [, end] = hits[at++] as Span;
    for (; at < hits.length && (hits[at] as Span)[0] <= end; at += 1) end = Math.max(end, (hits[at] as Span)[1]);
    marked += `${name.slice(done, start)}${START}${name.slice(start, end)}${END}`;
    done = end;
  }
  return marked + name.slice(done);
}

function markedFolded(characters: readonly string[], words: readonly string[]): string {
  const parts = characters.map(folded);
  const isHit = characters.map(() => false);
  for (const [start, end] of occurrences(parts.join(''), words)) mark(isHit, parts, start, end);
  return characters
    .map((character, at) => {
      const [before, after] = [isHit[at - 1] ?? false, isHit[at + 1] ?? false];
      return isHit[at] ? `${before ? '' : START}${character}${after ? '' : END}` : character;
    })
    .join('');
}

type Span = readonly [start: number, end: number];

/** Returns the position of each word in a text; positions may overlap. */
function occurrences(text: string, words: readonly string[]): Span[] {
  const spans: Span[] = [];
  for (const word of words)
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) spans.push([at, at + word.length]);
  return spans;
}

/** Marks the characters of which a part lies between these positions of the folded text. */
function mark(isHit: boolean[], parts: readonly string[], from: number, to: number): void {
  let start = 0;
  for (const [at, part] of parts.entries()) {
    const end = start + part.length;
    if (start < to && end > from) isHit[at] = true;
    start = end;
  }
}
