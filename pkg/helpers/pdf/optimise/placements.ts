import { PDFDict, PDFName, type PDFRef } from '@cantoo/pdf-lib';
import { name, numbersOf, type Pdf, xObject } from '../document.ts';
import { IDENTITY, type Matrix, matrixOf, multiplied, operationsOf } from '../operations.ts';
import { pageContent } from '../page-content.ts';
import { decoded } from '../streams.ts';

/** The largest size at which an image appears on a page, in points. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

const MAX_DEPTH = 8;
/** Forms may refer to each other so that a few of them draw millions of operations: those beyond this limit are not examined. */
const MAX_OPERATIONS = 5_000_000;

/**
 * Returns where the pages draw images, by reference. Images that only patterns or annotations draw are missing. Returns undefined
 * if there are too many operations to examine.
 */
export function placementsOf({ pages }: Pdf): Map<PDFRef, Size> | undefined {
  const placements = new Map<PDFRef, Size>();
  let operations = 0;

  const walk = (content: Uint8Array, resources: PDFDict | undefined, base: Matrix, depth: number): void => {
    const stack: Matrix[] = [];
    let matrix = base;
    for (const { operator, operands } of operationsOf(content)) {
      operations += 1;
      if (operations > MAX_OPERATIONS) return;
      if (operator === 'q') stack.push(matrix);
      else if (operator === 'Q') matrix = stack.pop() ?? matrix;
      else if (operator === 'cm') matrix = multiplied(matrixOf(operands), matrix);
      else if (operator === 'Do' && typeof operands[0] === 'string') draw(operands[0].slice(1), resources, matrix, depth);
    }
  };
  const draw = (key: string, resources: PDFDict | undefined, matrix: Matrix, depth: number): void => {
    const found = xObject(resources, key);
    if (!found) return;
    const { ref, stream } = found;
    if (stream.dict.lookup(name('Subtype')) === PDFName.of('Image')) {
      const [a, b, c, d] = matrix;
      const before = placements.get(ref) ?? { width: 0, height: 0 };
      placements.set(ref, { width: Math.max(before.width, Math.hypot(a, b)), height: Math.max(before.height, Math.hypot(c, d)) });
    } else if (depth < MAX_DEPTH) {
      const own = stream.dict.lookup(name('Resources'));
      const content = decoded(stream);
      const form = matrixOf(numbersOf(stream.dict.lookup(name('Matrix')), 6));
      if (content) walk(content, own instanceof PDFDict ? own : resources, multiplied(form, matrix), depth + 1);
    }
  };

  for (const page of pages) walk(pageContent(page), page.resources, IDENTITY, 0);
  return operations > MAX_OPERATIONS ? undefined : placements;
}
