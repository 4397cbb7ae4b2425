/** A run of letters that a PDF draws at once; `hasEOL`: a line ends with it. */
export interface Run {
  readonly str: string;
  readonly hasEOL: boolean;
}

/** The text of a page, and where each of its runs begins in it. */
export interface PageText {
  readonly text: string;
  readonly starts: readonly number[];
}

/** A part of a page's text. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/** A position in a page: its run, and the offset in that. */
export interface Position {
  readonly run: number;
  readonly offset: number;
}

export function textOf(runs: readonly Run[]): PageText {
  const starts: number[] = [];
  let text = '';
  for (const { str, hasEOL } of runs) {
    starts.push(text.length);
    text += hasEOL ? `${str}\n` : str;
  }
  return { text, starts };
}

/** Returns what finds these words in a text, in any case and with any space between them; undefined if there are none. */
export function patternOf(words: string): RegExp | undefined {
  const parts = words.split(/\s+/u).filter((part) => part !== '');
  if (parts.length === 0) return undefined;
  const literal = (part: string): string => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  return new RegExp(parts.map(literal).join(String.raw`\s+`), 'giu');
}

/** Returns the parts of a text that a pattern finds, at most `most`. */
export function partsIn(text: string, pattern: RegExp, most: number): Part[] {
  const parts: Part[] = [];
  for (const { index, 0: found } of text.matchAll(pattern)) {
    if (parts.length === most) break;
    parts.push({ start: index, end: index + found.length });
  }
  return parts;
}

/** Returns where a part begins and ends in its page. */
export function positionsOf({ starts }: PageText, { start, end }: Part): readonly [Position, Position] {
  const runAt = (index: number): number => starts.findLastIndex((begin) => begin <= index);
  const first = runAt(start);
  const last = runAt(end - 1);
  return [
    { run: first, offset: start - (starts[first] ?? 0) },
    { run: last, offset: end - (starts[last] ?? 0) },
  ];
}
