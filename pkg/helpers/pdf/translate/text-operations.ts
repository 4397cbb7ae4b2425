import { PDFDict, PDFName, PDFRawStream, type PDFRef } from '@cantoo/pdf-lib';
import { name, type Page, xObject } from '../document.ts';
import { type Operation, operationsOf } from '../operations.ts';
import { pageContent } from '../page-content.ts';
import { decoded } from '../streams.ts';

/** A text-showing operation: its stream, and its index among the operations that show text there. */
export interface TextOperation {
  /** The form that contains it; undefined: the page's own content. */
  readonly form: PDFRef | undefined;
  readonly index: number;
}

const SHOWS = new Set(['Tj', 'TJ', "'", '"']);
const MAX_DEPTH = 12;
/** Forms may refer to each other so that a few of them draw millions of operations. */
const MAX_OPERATIONS = 2_000_000;

/**
 * Returns the text-showing operations of a page in the order of drawing, including those of the forms that it draws; undefined if
 * there are too many.
 */
export function textOperationsOf(page: Page): TextOperation[] | undefined {
  const found: TextOperation[] = [];
  let operations = 0;
  const walk = (content: Uint8Array, form: PDFRef | undefined, resources: PDFDict | undefined, depth: number): void => {
    let index = 0;
    for (const { operator, operands } of operationsOf(content)) {
      operations += 1;
      if (operations > MAX_OPERATIONS) return;
      if (SHOWS.has(operator)) {
        found.push({ form, index });
        index += 1;
      }
      const drawn = operator === 'Do' && typeof operands[0] === 'string' ? xObject(resources, operands[0].slice(1)) : undefined;
      if (!drawn || drawn.stream.dict.lookup(name('Subtype')) !== PDFName.of('Form') || depth >= MAX_DEPTH) continue;
      const own = drawn.stream.dict.lookup(name('Resources'));
      walk(decoded(drawn.stream) ?? new Uint8Array(), drawn.ref, own instanceof PDFDict ? own : resources, depth + 1);
    }
  };
  walk(pageContent(page), undefined, page.resources, 0);
  return operations > MAX_OPERATIONS ? undefined : found;
}

/**
 * Returns the content with operations that move as before but show nothing, if `advanceOf` returns how far (an operand of TJ);
 * undefined leaves the operation unchanged. Also removes its replacement text for copying and searching.
 */
export function withoutText(content: Uint8Array, advanceOf: (index: number) => number | undefined): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  let index = 0;
  const replace = ({ start, end }: Operation, text: string): void => {
    parts.push(content.subarray(from, start), Buffer.from(text, 'latin1'));
    from = end;
  };
  for (const operation of operationsOf(content)) {
    const { operator, operands, start, end } = operation;
    if (operator === 'BDC') {
      const text = Buffer.from(content.subarray(start, end)).toString('latin1');
      if (text.includes('/ActualText')) replace(operation, text.replace(ACTUAL_TEXT, ''));
    }
    if (!SHOWS.has(operator)) continue;
    const advance = advanceOf(index);
    index += 1;
    if (advance === undefined) continue;
    const spacing = operator === '"' ? `${Number(operands[0])} Tw ${Number(operands[1])} Tc ` : '';
    const next = operator === '"' || operator === "'" ? 'T* ' : '';
    replace(operation, `${spacing}${next}[${decimal(advance)}] TJ`);
  }
  parts.push(content.subarray(from));
  return Buffer.concat(parts);
}

const ACTUAL_TEXT = /\/ActualText\s*(?:\((?:\\[\s\S]|[^\\()])*\)|<[\da-fA-F\s]*>)/;

/** PDF does not support exponents. */
export const decimal = (value: number): string => (Number.isFinite(value) ? value.toFixed(4).replace(/\.?0+$/, '') : '0');

/** Returns how many `q` of a content have no `Q`. */
export function openStates(content: Uint8Array): number {
  let open = 0;
  for (const { operator } of operationsOf(content)) {
    if (operator === 'q') open += 1;
    else if (operator === 'Q') open = Math.max(0, open - 1);
  }
  return open;
}

export const asStream = (before: PDFRawStream, content: Uint8Array, deflated: Uint8Array): PDFRawStream => {
  const dict = before.dict.clone();
  const isSmaller = deflated.length < content.length;
  dict.delete(name('DecodeParms'));
  if (isSmaller) dict.set(name('Filter'), name('FlateDecode'));
  else dict.delete(name('Filter'));
  return PDFRawStream.of(dict, isSmaller ? deflated : content);
};
