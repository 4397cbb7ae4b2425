/** The longest line that a source may have, in Unicode characters. Pure; the files come in as text. */
const MAX_CHARACTERS = 130;
/**
 * A token of this length is a URL, a hash, a pattern or the like. A line that holds one may be longer, since nothing can wrap it.
 */
const UNBREAKABLE = 100;
/** The data of an SVG path are one value, although they hold spaces. */
const SVG_PATH = /(["'`])[Mm][-\d\s.,MLHVCSQTAZmlhvcsqtaz]{40,}\1/;

/** Returns the line numbers (from 1) of lines that are too long, each with its length. */
export function longLines(text: string): { readonly line: number; readonly length: number }[] {
  return text.split('\n').flatMap((content, index) => {
    const length = lengthOf(content);
    return length <= MAX_CHARACTERS || holdsUnbreakable(content) ? [] : [{ line: index + 1, length }];
  });
}

const holdsUnbreakable = (line: string): boolean =>
  SVG_PATH.test(line) || line.split(/\s+/).some((token) => lengthOf(token) >= UNBREAKABLE);
const lengthOf = (text: string): number => Array.from(text).length;
