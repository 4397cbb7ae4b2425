import type { PageText, Run } from './runs.ts';

/** A rectangle in the frame of the text: `left` to `right` along the baseline, `bottom` to `top` across it. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

/** Text on one baseline without a large gap; positions are in the frame that is turned by its angle. */
export interface Line extends Box {
  readonly text: string;
  readonly baseline: number;
  readonly size: number;
  readonly isBold: boolean;
  readonly isInvisible: boolean;
  readonly color: Run['color'];
  readonly operations: ReadonlySet<number>;
  /** A cell of a table: the lines before and after it are other cells. */
  readonly isCell: boolean;
}

/** All text of one angle, from the top, with the rules around it. */
export interface Frame {
  /** Degrees. */
  readonly angle: number;
  readonly lines: readonly Line[];
  /** Vertical and horizontal rules. */
  readonly uprights: readonly Box[];
  readonly levels: readonly Box[];
}

interface Piece extends Box {
  readonly run: Run;
  readonly baseline: number;
}

/** Relative to the text size. */
const SAME_BASELINE = 0.35;
const RAISED = 0.55;
const SMALL = 0.85;
const GAP = 1.1;
const SPACE = 0.18;
const ASCENT = 0.8;
const DESCENT = 0.22;
/** Dots or a line that lead from one text to another. */
const LEADER = /^\s*(?:[._·…]\s*){4,}$/;
/** Maximum average of letters per cell, in a row of two or more. */
const CELL_LETTERS = 24;

/** Returns a point of the page in the frame that is turned by `degrees`, or back with the negative angle. */
export function turned([x, y]: readonly [number, number], degrees: number): [number, number] {
  const radians = (degrees * Math.PI) / 180;
  const [cosine, sine] = [Math.cos(radians), Math.sin(radians)];
  return [x * cosine + y * sine, y * cosine - x * sine];
}

export function framesOf({ runs, rules }: PageText): Frame[] {
  const angles = Map.groupBy(runs, ({ angle }) => (Math.round(angle) + 360) % 360);
  return [...angles].map(([angle, ofAngle]) => {
    const boxes = rules.map(({ from, to }) => boxOf(turned(from, angle), turned(to, angle)));
    const uprights = boxes.filter((box) => box.right - box.left < 1);
    const levels = boxes.filter((box) => box.top - box.bottom < 1);
    return {
      angle,
      uprights,
      levels,
      lines: withCells(rowsOf(ofAngle.map((run) => pieceOf(run, angle))).map((row) => linesOf(row, uprights))),
    };
  });
}

const boxOf = ([x, y]: [number, number], [otherX, otherY]: [number, number]): Box => ({
  left: Math.min(x, otherX),
  right: Math.max(x, otherX),
  bottom: Math.min(y, otherY),
  top: Math.max(y, otherY),
});

function pieceOf(run: Run, angle: number): Piece {
  const [left, baseline] = turned([run.x, run.y], angle);
  return {
    run,
    baseline,
    left,
    right: left + run.width,
    bottom: baseline - DESCENT * run.size,
    top: baseline + ASCENT * run.size,
  };
}

/** Returns rows from the top, each with its pieces from the left. */
function rowsOf(all: readonly Piece[]): Piece[][] {
  const rows: { baseline: number; size: number; pieces: Piece[] }[] = [];
  for (const each of all.toSorted((one, other) => other.baseline - one.baseline)) {
    const row = rows.at(-1);
    if (row && row.baseline - each.baseline <= tolerance(row.size, each.run.size)) {
      row.pieces.push(each);
      row.size = Math.max(row.size, each.run.size);
    } else rows.push({ baseline: each.baseline, size: each.run.size, pieces: [each] });
  }
  return rows.map((row) => row.pieces.toSorted((one, other) => one.left - other.left));
}

/** Small signs are above or below their line. */
const tolerance = (size: number, other: number): number =>
  Math.min(size, other) < SMALL * Math.max(size, other) ? RAISED * Math.max(size, other) : SAME_BASELINE * Math.min(size, other);

function linesOf(row: readonly Piece[], uprights: readonly Box[]): Piece[][] {
  const lines: Piece[][] = [];
  for (const each of row) {
    const last = lines.at(-1)?.at(-1);
    if (last && continues(last, each) && !uprights.some((rule) => isBetween(rule, last, each))) lines.at(-1)?.push(each);
    else lines.push([each]);
  }
  return lines;
}

function continues(last: Piece, next: Piece): boolean {
  const size = Math.max(last.run.size, next.run.size);
  const gap = next.left - last.right;
  const isLeader = LEADER.test(last.run.text) || LEADER.test(next.run.text);
  return gap < GAP * size && gap > -GAP * size && last.run.isInvisible === next.run.isInvisible && !isLeader;
}

const isBetween = (rule: Box, last: Piece, next: Piece): boolean =>
  rule.left > last.right - 1 && rule.right < next.left + 1 && rule.bottom < next.top && rule.top > next.bottom;

function withCells(rows: readonly (readonly (readonly Piece[])[])[]): Line[] {
  const looksLikeCells = rows.map((row) => {
    const letters = row.flat().reduce((sum, { run }) => sum + run.text.length, 0);
    return row.length > 1 && letters / row.length <= CELL_LETTERS;
  });
  const isNear = (row: readonly (readonly Piece[])[] | undefined, other: readonly (readonly Piece[])[] | undefined): boolean => {
    const [one, two] = [row?.[0]?.[0], other?.[0]?.[0]];
    return one !== undefined && two !== undefined && Math.abs(one.baseline - two.baseline) < 5 * one.run.size;
  };
  return rows.flatMap((row, index) => {
    const hasNeighbour = [index - 1, index + 1].some((other) => looksLikeCells[other] === true && isNear(row, rows[other]));
    const isCell = (looksLikeCells[index] === true && hasNeighbour) || row.flat().some(({ run }) => LEADER.test(run.text));
    return row.map((line) => lineOf(line, isCell));
  });
}

function lineOf(row: readonly Piece[], isCell: boolean): Line {
  let text = '';
  let right = row[0]?.left ?? 0;
  // The property of most of the letters applies to the whole line.
  const [main] = row.toSorted((one, other) => other.run.text.length - one.run.text.length);
  for (const piece of row) {
    const isApart = piece.left - right > SPACE * piece.run.size;
    const part = main && isRaised(piece, main) ? raised(piece.run.text) : piece.run.text;
    text += isApart && !text.endsWith(' ') && !part.startsWith(' ') ? ` ${part}` : part;
    right = piece.right;
  }
  const bold = row.filter(({ run }) => run.isBold).reduce((sum, { run }) => sum + run.text.length, 0);
  return {
    text: text.replaceAll(/\s+/g, ' ').trim(),
    baseline: main?.baseline ?? 0,
    size: main?.run.size ?? 0,
    isBold: bold * 2 > text.length,
    isInvisible: main?.run.isInvisible ?? false,
    color: main?.run.color ?? [0, 0, 0],
    operations: new Set(row.map(({ run }) => run.operation)),
    isCell,
    left: row[0]?.left ?? 0,
    right: Math.max(...row.map((each) => each.right)),
    bottom: Math.min(...row.map((each) => each.bottom)),
    top: Math.max(...row.map((each) => each.top)),
  };
}

/** Returns whether it is the number of a footnote, or an exponent. */
const isRaised = ({ run, baseline }: Piece, main: Piece): boolean =>
  run.size < SMALL * main.run.size && baseline - main.baseline > 0.15 * main.run.size && /^\d+$/.test(run.text.trim());

const raised = (digits: string): string => Array.from(digits.trim(), (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'.charAt(Number(digit))).join('');
