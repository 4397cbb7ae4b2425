import type { PDFFont } from '@cantoo/pdf-lib';
import type { Block } from './blocks.ts';
import { turned } from './lines.ts';
import { decimal } from './text-operations.ts';

/** A drawn line, in points of the page. */
export interface DrawnLine {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly size: number;
  readonly lines: readonly DrawnLine[];
}

/**
 * Step by which a text is reduced until it fits, down to the smallest legible size; a text that still does not fit extends beyond
 * its area.
 */
const STEP = 0.97;
/** Before a text becomes smaller than this, it gets one more line if there is space. */
const NEARLY = 0.92;
const MIN_SIZE = 4;
const LEADING = 1.2;

/** Lays `text` out in the block's area, at the size of the block's text or the size that fits. */
export function layOut(text: string, block: Block, font: PDFFont, angle: number): Layout {
  const { lines, limits, alignment } = block;
  const [first] = lines;
  const own = { left: Math.min(...lines.map(({ left }) => left)), right: Math.max(...lines.map(({ right }) => right)) };
  const original = Math.max(...lines.map(({ size }) => size));
  const step =
    lines.length > 1 ? ((first?.baseline ?? 0) - (lines.at(-1)?.baseline ?? 0)) / (lines.length - 1) : LEADING * original;
  // A paragraph keeps its width, plus a little if there is room; a single line may use all available room.
  const space = { left: Math.min(own.left, limits.left), right: Math.max(own.right, limits.right) };
  const right = lines.length > 1 ? Math.min(space.right, own.right + original) : space.right;
  const middle = (own.left + own.right) / 2;
  const width = {
    left: right - own.left,
    center: 2 * Math.min(middle - space.left, space.right - middle),
    right: own.right - space.left,
  }[alignment];
  const ownHeight = (lines.length - 1) * step + original * 1.02;

  const measure = measureOf(font);
  const indent = alignment === 'left' && lines.length > 1 ? Math.max(0, (first?.left ?? 0) - own.left) : 0;

  for (let size = original; ; size *= STEP) {
    const wrapped = wrap(text, { measure, size, indent, width: Math.max(width, own.right - own.left) });
    const leading = Math.min(step, step * (size / original) * 1.02);
    const height = ownHeight + (block.mayGrow && size < NEARLY * original ? step : 0);
    const fits = wrapped.lines.length * leading - leading + size <= height && !wrapped.isTooWide;
    if (!fits && size * STEP >= Math.min(MIN_SIZE, original * 0.5)) continue;
    return { size, lines: wrapped.lines.map((line, index) => drawnLine(line, index, index * leading, size)) };
  }

  function drawnLine(line: string, index: number, down: number, size: number): DrawnLine {
    const length = font.widthOfTextAtSize(line, size);
    const left = { left: own.left + (index === 0 ? indent : 0), center: middle - length / 2, right: own.right - length }[
      alignment
    ];
    const [x, y] = turned([left, (first?.baseline ?? 0) - down], -angle);
    return { text: line, x, y };
  }
}

type Measure = (text: string) => number;
const measures = new WeakMap<PDFFont, Measure>();

/** Widths of words at size 1: the shapes of a word are looked up once. */
function measureOf(font: PDFFont): Measure {
  const known = measures.get(font);
  if (known) return known;
  const widths = new Map<string, number>();
  const measure = (word: string): number => {
    const width = widths.get(word) ?? font.widthOfTextAtSize(word, 1);
    widths.set(word, width);
    return width;
  };
  measures.set(font, measure);
  return measure;
}

function wrap(
  text: string,
  { measure, size, width, indent }: { measure: Measure; size: number; width: number; indent: number },
): { lines: string[]; isTooWide: boolean } {
  const lines: string[] = [];
  let isTooWide = false;
  let used = 0;
  for (const word of text.split(' ')) {
    const length = measure(word) * size;
    const longer = used + measure(' ') * size + length;
    if (lines.length > 0 && longer <= width) {
      lines[lines.length - 1] += ` ${word}`;
      used = longer;
    } else {
      used = length + (lines.length === 0 ? indent : 0);
      lines.push(word);
      isTooWide ||= used > width;
    }
  }
  return { lines, isTooWide };
}

/** Returns the operations that draw a layout; `key` is the font's name in the resources. */
export function drawn(
  layout: Layout,
  { block, font, key, angle }: { block: Block; font: PDFFont; key: string; angle: number },
): string {
  const radians = (angle * Math.PI) / 180;
  const [cosine, sine] = [decimal(Math.cos(radians)), decimal(Math.sin(radians))];
  const minus = decimal(-Math.sin(radians));
  const [main] = block.lines;
  const cover = main?.isInvisible ? block.lines.map((line) => covered(line, angle)).join('') : '';
  const color = main?.isInvisible ? '0 g' : `${(main?.color ?? [0, 0, 0]).map(decimal).join(' ')} rg`;
  const texts = layout.lines.map(
    ({ text, x, y }) =>
      `${cosine} ${sine} ${minus} ${cosine} ${decimal(x)} ${decimal(y)} Tm ${font.encodeText(text).toString()} Tj`,
  );
  return `q ${cover}${color} BT /${key} ${decimal(layout.size)} Tf\n${texts.join('\n')}\nET Q\n`;
}

/** The picture of the text is behind a text layer. */
function covered(
  { left, right, bottom, top }: { left: number; right: number; bottom: number; top: number },
  angle: number,
): string {
  const corners = [
    [left, bottom],
    [right, bottom],
    [right, top],
    [left, top],
  ] as const;
  const [start, ...rest] = corners.map((corner) => turned(corner, -angle).map(decimal).join(' '));
  return `1 g ${start} m ${rest.map((corner) => `${corner} l`).join(' ')} f `;
}
