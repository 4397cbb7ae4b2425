import { getResolvedPDFJS } from 'unpdf';
import { IDENTITY, type Matrix, matrixOf, multiplied } from '../operations.ts';

/**
 * A sequence of glyphs without a large gap: part of the text that one text-showing operation shows. Lengths are points of the
 * page.
 */
export interface Run {
  readonly text: string;
  /** The start of its baseline. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: number;
  /** Angle of its baseline, in degrees. */
  readonly angle: number;
  readonly isBold: boolean;
  /** Red, green, blue; 0 to 1. */
  readonly color: readonly [number, number, number];
  /** Text behind a scanned page: not visible, but found by search. */
  readonly isInvisible: boolean;
  /** Index of the page's text-showing operation that shows it, in the order of drawing. */
  readonly operation: number;
}

/** A straight line of a drawing, such as the border of a cell. */
export interface Rule {
  readonly from: readonly [number, number];
  readonly to: readonly [number, number];
}

export interface PageText {
  readonly runs: readonly Run[];
  readonly rules: readonly Rule[];
  /** Movement of each text-showing operation: in thousandths of its font size, as an operand of TJ. */
  readonly advances: readonly number[];
}

type Pdfjs = Awaited<ReturnType<typeof getResolvedPDFJS>>;
type PdfjsDocument = Awaited<ReturnType<Pdfjs['getDocument']>['promise']>;
type PdfjsPage = Awaited<ReturnType<PdfjsDocument['getPage']>>;

/** Relative to the font size: a gap that ends a run (a tab, the next cell), and one that is a space. */
const GAP = 1;
const SPACE = 0.18;
const MIN_RULE = 4;
/** Positions of further drawings would cost more than they help. */
const MAX_RULES = 20_000;
const LEADER = /(?:[._·…]\s*){4,}/g;
const INVISIBLE = new Set([3, 7]);

interface Glyph {
  readonly unicode: string;
  readonly width: number;
  readonly isSpace: boolean;
}
interface Font {
  readonly fontMatrix?: readonly number[];
  readonly vertical?: boolean;
  readonly bold?: boolean;
  readonly black?: boolean;
  readonly name?: string;
}

interface State {
  matrix: Matrix;
  font: Font | undefined;
  size: number;
  charSpacing: number;
  wordSpacing: number;
  scale: number;
  leading: number;
  rise: number;
  mode: number;
  color: readonly [number, number, number];
}

export async function openWithPdfjs(bytes: Uint8Array): Promise<PdfjsDocument> {
  const { getDocument } = await getResolvedPDFJS();
  return getDocument({
    data: Uint8Array.from(bytes),
    // Images are not examined, and nothing is drawn.
    maxImageSize: 1,
    disableFontFace: true,
    fontExtraProperties: true,
    useSystemFonts: false,
    isEvalSupported: false,
    stopAtErrors: false,
    verbosity: 0,
  } as never).promise;
}

/** Returns the text that a page shows, in the order of drawing, without its annotations. */
export async function textOfPage(page: PdfjsPage): Promise<PageText> {
  const { OPS } = await getResolvedPDFJS();
  const names = new Map(Object.entries(OPS).map(([key, code]) => [code, key]));
  const { fnArray, argsArray } = await page.getOperatorList({ annotationMode: 0 });
  const reader = new PageReader((id) => (page.commonObjs.has(id) ? (page.commonObjs.get(id) as Font) : undefined));
  for (const [index, code] of fnArray.entries())
    reader.read(names.get(code) ?? '', (argsArray[index] ?? []) as readonly unknown[]);
  return reader;
}

/** Follows the operators of pdf.js as its canvas does. */
class PageReader implements PageText {
  readonly runs: Run[] = [];
  readonly rules: Rule[] = [];
  readonly advances: number[] = [];
  readonly #fontOf: (id: string) => Font | undefined;
  readonly #stack: State[] = [];
  #state: State = {
    matrix: IDENTITY,
    font: undefined,
    size: 0,
    charSpacing: 0,
    wordSpacing: 0,
    scale: 1,
    leading: 0,
    rise: 0,
    mode: 0,
    color: [0, 0, 0],
  };
  #text: Matrix = IDENTITY;
  #at = { x: 0, y: 0 };
  #line = { x: 0, y: 0 };

  constructor(fontOf: (id: string) => Font | undefined) {
    this.#fontOf = fontOf;
  }

  read(operator: string, args: readonly unknown[]): void {
    const state = this.#state;
    const [first, second] = args as [number, number];
    if (operator === 'save') this.#stack.push({ ...state });
    else if (operator === 'restore' || operator === 'paintFormXObjectEnd') this.#state = this.#stack.pop() ?? state;
    else if (operator === 'transform') state.matrix = multiplied(matrixOf(args as number[]), state.matrix);
    else if (operator === 'paintFormXObjectBegin') {
      this.#stack.push({ ...state });
      state.matrix = multiplied(matrixOf(args[0] ? [...(args[0] as number[])] : undefined), state.matrix);
    } else if (operator === 'setCharSpacing') state.charSpacing = first;
    else if (operator === 'setWordSpacing') state.wordSpacing = first;
    else if (operator === 'setHScale') state.scale = first / 100;
    else if (operator === 'setLeading') state.leading = -first;
    else if (operator === 'setTextRise') state.rise = first;
    else if (operator === 'setTextRenderingMode') state.mode = first;
    else if (operator === 'setFont') this.#setFont(args);
    else if (operator === 'setGState') {
      for (const [key, value] of (args[0] as [string, unknown][]) ?? []) if (key === 'Font') this.#setFont(value as unknown[]);
    } else if (operator === 'beginText' || operator === 'setTextMatrix')
      this.#setTextMatrix(operator === 'beginText' ? [] : args);
    else if (operator === 'moveText') this.#moveText(first, second);
    else if (operator === 'setLeadingMoveText') {
      state.leading = second;
      this.#moveText(first, second);
    } else if (operator === 'nextLine') this.#moveText(0, state.leading);
    else if (operator === 'setFillRGBColor') state.color = colorOf(args);
    else if (operator === 'showText') this.#show((args[0] ?? []) as (Glyph | number)[]);
    else if (operator === 'constructPath') this.#draw(args);
  }

  #setFont([id, size]: readonly unknown[]): void {
    this.#state.font = this.#fontOf(String(id));
    this.#state.size = Number(size);
  }

  #setTextMatrix(args: readonly unknown[]): void {
    const values = args.length === 1 ? [...(args[0] as number[])] : (args as number[]);
    this.#text = matrixOf(values);
    this.#at = { x: 0, y: 0 };
    this.#line = { x: 0, y: 0 };
  }

  #moveText(x: number, y: number): void {
    this.#line = { x: this.#line.x + x, y: this.#line.y + y };
    this.#at = { ...this.#line };
  }

  #show(glyphs: readonly (Glyph | number)[]): void {
    const { font, size, charSpacing, wordSpacing, scale } = this.#state;
    const unit = size * (font?.fontMatrix?.[0] ?? 0.001);
    const operation = this.advances.length;
    let pen = 0;
    let run: Stretch = { text: '', starts: [], to: 0 };
    const finish = (): void => {
      if (font?.vertical === true) return;
      for (const part of withoutLeaders(run)) if (part.text.trim() !== '') this.runs.push(this.#run(part, operation));
    };
    for (const glyph of glyphs) {
      if (typeof glyph === 'number') {
        pen -= (glyph * size) / 1000;
        continue;
      }
      const gap = (pen - run.to) / size;
      if (run.text === '' || gap > GAP || gap < -GAP) {
        finish();
        run = { text: '', starts: [], to: pen };
      } else if (gap > SPACE && !run.text.endsWith(' ') && !glyph.isSpace) add(run, ' ', pen);
      const width = glyph.width * unit;
      add(run, glyph.unicode, pen);
      run.to = pen + width;
      pen += width + charSpacing + (glyph.isSpace ? wordSpacing : 0);
      // Letters that are spaced out belong together.
      if (charSpacing > 0) run.to = pen;
    }
    finish();
    this.advances.push(size === 0 ? 0 : (-pen * 1000) / size);
    if (font?.vertical !== true) this.#at.x += pen * scale;
  }

  #run({ text, starts, to }: Stretch, operation: number): Run {
    const [from = 0] = starts;
    const { matrix, size, scale, rise, color, mode, font } = this.#state;
    const page = multiplied(this.#text, matrix);
    const flip = size < 0 ? -1 : 1;
    const [x, y] = applied(page, this.#at.x + from * scale, this.#at.y + rise);
    const along = Math.hypot(page[0], page[1]);
    return {
      text,
      x,
      y,
      width: Math.abs(to - from) * scale * along,
      size: Math.abs(size) * Math.hypot(page[2], page[3]),
      angle: (Math.atan2(flip * page[1], flip * page[0]) * 180) / Math.PI,
      isBold: font?.bold === true || font?.black === true || /bold|black|heavy|demi|cmbx/i.test(font?.name ?? ''),
      color,
      isInvisible: INVISIBLE.has(mode),
      operation,
    };
  }

  /** Reads only painted vertical and horizontal lines: `[kind of painting, [positions], bounds]`. */
  #draw([, paths]: readonly unknown[]): void {
    const [data] = Array.isArray(paths) ? (paths as (ArrayLike<number> | null)[]) : [];
    if (!data || this.rules.length > MAX_RULES) return;
    let start: [number, number] = [0, 0];
    let at: [number, number] = [0, 0];
    const lineTo = (to: [number, number]): void => {
      const [from, end] = [applied(this.#state.matrix, ...at), applied(this.#state.matrix, ...to)];
      const [across, up] = [Math.abs(from[0] - end[0]), Math.abs(from[1] - end[1])];
      if (Math.max(across, up) >= MIN_RULE && Math.min(across, up) < 1) this.rules.push({ from, to: end });
      at = to;
    };
    for (let index = 0; index < data.length;) {
      const kind = data[index];
      const value = (offset: number): number => Number(data[index + offset]);
      if (kind === 0) start = at = [value(1), value(2)];
      else if (kind === 1) lineTo([value(1), value(2)]);
      else if (kind === 2) at = [value(5), value(6)];
      else if (kind === 3) at = [value(3), value(4)];
      else if (kind === 4) lineTo(start);
      else return;
      index += [3, 3, 7, 5, 1][kind] ?? 1;
    }
  }
}

interface Stretch {
  text: string;
  /** The start of each code unit of the text. */
  starts: number[];
  to: number;
}

function add(stretch: Stretch, text: string, at: number): void {
  stretch.text += text;
  for (let unit = 0; unit < text.length; unit += 1) stretch.starts.push(at);
}

/** Separates dots and lines that lead to a page number or form a blank to fill in. */
function withoutLeaders({ text, starts, to }: Stretch): Stretch[] {
  const cuts = [...text.matchAll(LEADER)].flatMap(({ index, 0: leader }) => [index, index + leader.length]);
  const bounds = [0, ...cuts, text.length];
  return bounds.slice(1).map((end, index) => {
    const begin = bounds[index] ?? 0;
    return { text: text.slice(begin, end), starts: starts.slice(begin, end), to: starts[end] ?? to };
  });
}

const applied = ([a, b, c, d, e, f]: Matrix, x: number, y: number): [number, number] => [a * x + c * y + e, b * x + d * y + f];

function colorOf(args: readonly unknown[]): readonly [number, number, number] {
  const [first] = args;
  const hex = typeof first === 'string' ? /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})/i.exec(first) : undefined;
  const parts = hex ? hex.slice(1).map((part) => Number.parseInt(part, 16)) : args.slice(0, 3).map(Number);
  const [red = 0, green = 0, blue = 0] = parts.map((part) => (Number.isFinite(part) ? part / 255 : 0));
  return [red, green, blue];
}
