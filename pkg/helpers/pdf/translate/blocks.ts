import type { Box, Frame, Line } from './lines.ts';

type Alignment = 'left' | 'center' | 'right';

/** A paragraph, a heading or a cell: a unit of translation, and the area for its translation. */
export interface Block {
  readonly lines: readonly Line[];
  readonly text: string;
  readonly alignment: Alignment;
  /** How far its text may extend to both sides before it meets something else. */
  readonly limits: { readonly left: number; readonly right: number };
  /** Whether there is room for one more line below it. */
  readonly mayGrow: boolean;
}

/** Relative to the text size. */
const LEADING = { least: 0.7, most: 1.75 };
const INDENT = 4;
const ALIGNED = 0.4;
const BULLET = /^(?:[•◦▪‣·*–—-]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s/u;

/** Returns the paragraphs of a frame, from the top. */
export function blocksOf(frame: Frame): Block[] {
  const open: Line[][] = [];
  for (const line of frame.lines) {
    const above = open
      .filter((lines) => continuesBlock(lines, line, frame))
      .toSorted((one, other) => (one.at(-1)?.baseline ?? 0) - (other.at(-1)?.baseline ?? 0))[0];
    if (above) above.push(line);
    else open.push([line]);
  }
  const area = {
    left: Math.min(...frame.lines.map(({ left }) => left)),
    right: Math.max(...frame.lines.map(({ right }) => right)),
  };
  return open.map((lines) => {
    const limits = limitsOf(lines, frame, area);
    return {
      lines,
      text: joined(lines),
      limits,
      alignment: alignmentOf(lines, limits, area),
      mayGrow: hasRoomBelow(lines, frame, limits),
    };
  });
}

function continuesBlock(lines: readonly Line[], next: Line, frame: Frame): boolean {
  const last = lines.at(-1);
  if (!last || last.isCell || next.isCell || BULLET.test(next.text)) return false;
  const step = last.baseline - next.baseline;
  const ratio = next.size / last.size;
  const isSameText = ratio > 0.85 && ratio < 1.18 && last.isBold === next.isBold && last.isInvisible === next.isInvisible;
  if (!isSameText || step < LEADING.least * next.size || step > LEADING.most * next.size) return false;
  const before = lines.at(-2);
  if (before && Math.abs(before.baseline - last.baseline - step) > 0.25 * next.size) return false;
  if (!isUnder(lines, last, next) || hasRuleBetween(frame, last, next)) return false;
  return isFull(lines, last, next);
}

/** Its left edge, right edge or middle matches the line above; the first line of a paragraph may be indented or outdented. */
function isUnder(lines: readonly Line[], last: Line, next: Line): boolean {
  const overlap = Math.min(last.right, next.right) - Math.max(last.left, next.left);
  if (overlap < 0.5 * Math.min(last.right - last.left, next.right - next.left)) return false;
  const indent = last.left - next.left;
  const isIndented = lines.length === 1 && Math.abs(indent) < INDENT * next.size;
  const isCentered = Math.abs(last.left + last.right - next.left - next.right) < 2 * ALIGNED * next.size;
  return Math.abs(indent) < next.size || isIndented || isCentered || Math.abs(last.right - next.right) < ALIGNED * next.size;
}

/** A rule close below the letters underlines them and separates nothing. */
const hasRuleBetween = (frame: Frame, last: Line, next: Line): boolean =>
  frame.levels.some(
    (rule) =>
      rule.top < last.bottom && rule.bottom > next.baseline + 0.3 * next.size && rule.left < next.right && rule.right > next.left,
  );

/** The text continues on the next line only if the next word would not have fitted on this one. */
function isFull(lines: readonly Line[], last: Line, next: Line): boolean {
  const [word = ''] = next.text.split(' ');
  const isCentered =
    Math.abs(last.left + last.right - next.left - next.right) < 2 * ALIGNED * next.size &&
    Math.abs(last.left - next.left) > next.size;
  if (isCentered) return true;
  const letters = Math.max(1, next.text.length);
  const wordWidth = (word.length * (next.right - next.left)) / letters;
  const edge = Math.max(...lines.map(({ right }) => right), next.right);
  return edge - last.right < wordWidth + 1.2 * next.size;
}

/** Rejoins a word that was divided at the end of a line. */
function joined(lines: readonly Line[]): string {
  return lines.reduce((text, line) => {
    if (text === '') return line.text;
    if (/\p{L}[-\u00AD\u2010]$/u.test(text) && /^\p{Ll}/u.test(line.text)) return text.slice(0, -1) + line.text;
    return `${text} ${line.text}`;
  }, '');
}

const span = (lines: readonly Line[]): Box => ({
  left: Math.min(...lines.map(({ left }) => left)),
  right: Math.max(...lines.map(({ right }) => right)),
  bottom: Math.min(...lines.map(({ bottom }) => bottom)),
  top: Math.max(...lines.map(({ top }) => top)),
});

/** Other text and vertical rules bound a block; otherwise the text area of the page does. */
function limitsOf(lines: readonly Line[], frame: Frame, area: { left: number; right: number }): { left: number; right: number } {
  const own = span(lines);
  const size = lines[0]?.size ?? 0;
  const beside = (box: Box): boolean => box.bottom < own.top && box.top > own.bottom;
  const texts = frame.lines
    .filter((line) => !lines.includes(line) && beside(line))
    .map((line) => ({ ...line, margin: 0.6 * size }));
  const rules = frame.uprights.filter(beside).map((rule) => ({ ...rule, margin: 0.2 * size }));
  const all = [...texts, ...rules];
  const right = Math.min(area.right, ...all.filter((box) => box.left >= own.right - 1).map((box) => box.left - box.margin));
  const left = Math.max(area.left, ...all.filter((box) => box.right <= own.left + 1).map((box) => box.right + box.margin));
  return { left: Math.min(left, own.left), right: Math.max(right, own.right) };
}

/** Free space below a cell is unknown: often no rule marks where it ends. */
function hasRoomBelow(lines: readonly Line[], frame: Frame, limits: { left: number; right: number }): boolean {
  const own = span(lines);
  const size = lines[0]?.size ?? 0;
  const space = { left: limits.left, right: limits.right, top: own.bottom, bottom: own.bottom - 1.8 * size };
  const isIn = (box: Box): boolean =>
    box.left < space.right && box.right > space.left && box.top > space.bottom && box.bottom < space.top;
  const isLowest = frame.lines.every(({ bottom }) => bottom >= own.bottom);
  return (
    !lines.some(({ isCell }) => isCell) &&
    !isLowest &&
    ![...frame.lines.filter((line) => !lines.includes(line)), ...frame.levels].some(isIn)
  );
}

function alignmentOf(
  lines: readonly Line[],
  limits: { left: number; right: number },
  area: { left: number; right: number },
): Alignment {
  const size = lines[0]?.size ?? 0;
  const isSame = (values: readonly number[]): boolean => Math.max(...values) - Math.min(...values) < ALIGNED * size;
  if (lines.length > 1) {
    if (isSame(lines.slice(1).map(({ left }) => left))) return 'left';
    if (isSame(lines.map(({ left, right }) => (left + right) / 2))) return 'center';
    return isSame(lines.map(({ right }) => right)) ? 'right' : 'left';
  }
  const own = span(lines);
  const isInCell = limits.left > area.left || limits.right < area.right;
  const space = { left: own.left - limits.left, right: limits.right - own.right };
  const isCentered = Math.abs(space.left - space.right) < ALIGNED * size && space.left > (isInCell ? 0.5 : 1.5) * size;
  return isCentered ? 'center' : 'left';
}
