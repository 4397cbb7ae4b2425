/** One operation of a content stream (ISO 32000-2 §7.8.2) with its position, from its first operand to its operator. */
export interface Operation {
  readonly operator: string;
  /** Numbers, and names with their slash; null for other operands. */
  readonly operands: readonly (number | string | null)[];
  readonly start: number;
  readonly end: number;
}

const SPACE = 1;
const DELIMITER = 2;
/** The kind of each byte: a space, a delimiter, or 0 for a regular character (ISO 32000-2 §7.2.3). */
const KINDS = new Uint8Array(256);
for (const byte of [0, 9, 10, 12, 13, 32]) KINDS[byte] = SPACE;
for (const sign of '()<>[]{}/%') KINDS[sign.charCodeAt(0)] = DELIMITER;
const isSpace = (byte: number | undefined): boolean => byte !== undefined && KINDS[byte] === SPACE;
const isRegular = (byte: number | undefined): boolean => byte !== undefined && KINDS[byte] === 0;
const OPEN = 40;
const CLOSE = 41;
const BACKSLASH = 92;
const LESS = 60;
const GREATER = 62;
const PERCENT = 37;
const SLASH = 47;
const BRACKET = 91;
const END_BRACKET = 93;

/** Yields the operations of a content stream, in their order. Skips anything else, as readers do. */
export function* operationsOf(bytes: Uint8Array): Generator<Operation> {
  let operands: (number | string | null)[] = [];
  let start = -1;
  let depth = 0;
  const push = (operand: number | string | null): void => void (depth === 0 && operands.push(operand));
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at] as number;
    if (isSpace(byte)) {
      at += 1;
      continue;
    }
    if (byte === PERCENT) {
      at = endOfLine(bytes, at);
      continue;
    }
    if (start === -1) start = at;
    if (byte === OPEN) {
      at = endOfString(bytes, at);
      push(null);
    } else if (byte === LESS && bytes[at + 1] !== LESS) {
      at = bytes.indexOf(GREATER, at) + 1 || bytes.length;
      push(null);
    } else if (byte === BRACKET || (byte === LESS && bytes[at + 1] === LESS)) {
      push(null);
      depth += 1;
      at += byte === LESS ? 2 : 1;
    } else if (byte === END_BRACKET || (byte === GREATER && bytes[at + 1] === GREATER)) {
      depth = Math.max(0, depth - 1);
      at += byte === GREATER ? 2 : 1;
    } else if (byte === SLASH) {
      const end = endOfRegular(bytes, at + 1);
      push(textOf(bytes, at, end));
      at = end;
    } else if (!isRegular(byte)) at += 1;
    else {
      const end = endOfRegular(bytes, at);
      const word = textOf(bytes, at, end);
      at = end;
      if (depth > 0) continue;
      const number = /^[+-]*[\d.]/.test(word) ? Number.parseFloat(word.replace(/^[+-]*(?=[+-])/, '')) : Number.NaN;
      if (!Number.isNaN(number)) operands.push(number);
      else if (word === 'true' || word === 'false' || word === 'null') operands.push(null);
      else {
        if (word === 'ID') at = endOfInlineImage(bytes, at);
        // The dictionary of an inline image is between BI and ID; together with its data it is one operation.
        if (word !== 'BI') {
          yield { operator: word, operands, start, end: at };
          operands = [];
          start = -1;
        }
      }
    }
  }
}

const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  String.fromCharCode(...bytes.subarray(start, Math.min(end, start + 256)));

function endOfRegular(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isRegular(bytes[at])) at += 1;
  return at;
}

function endOfLine(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== 10 && bytes[at] !== 13) at += 1;
  return at;
}

function endOfString(bytes: Uint8Array, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === OPEN) depth += 1;
    else if (byte === CLOSE && --depth === 0) return at + 1;
  }
  return bytes.length;
}

/** The bytes of the image, of any value, follow `ID` and one space. `EI` between spaces ends them if plain text follows. */
function endOfInlineImage(bytes: Uint8Array, from: number): number {
  for (let at = from + 1; at < bytes.length; at += 1) {
    if (bytes[at] !== 69 || bytes[at + 1] !== 73 || !isSpace(bytes[at - 1])) continue;
    const after = bytes.subarray(at + 2, at + 12);
    const isPlain = after.every((byte) => isSpace(byte) || (byte > 31 && byte < 127));
    if (isPlain && (after.length === 0 || isSpace(after[0]))) return at + 2;
  }
  return bytes.length;
}

/** [a b c d e f] as in PDF. */
export type Matrix = readonly [number, number, number, number, number, number];
export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** Applies `first`, then `second`. */
export const multiplied = (first: Matrix, second: Matrix): Matrix => [
  first[0] * second[0] + first[1] * second[2],
  first[0] * second[1] + first[1] * second[3],
  first[2] * second[0] + first[3] * second[2],
  first[2] * second[1] + first[3] * second[3],
  first[4] * second[0] + first[5] * second[2] + second[4],
  first[4] * second[1] + first[5] * second[3] + second[5],
];

export function matrixOf(values: readonly (number | string | null)[] | undefined): Matrix {
  const [a, b, c, d, e, f] = values ?? [];
  return [a, b, c, d, e, f].every((value) => typeof value === 'number') ? ([a, b, c, d, e, f] as unknown as Matrix) : IDENTITY;
}
