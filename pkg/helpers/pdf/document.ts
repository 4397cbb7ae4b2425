import {
  PDFArray,
  PDFContext,
  PDFDict,
  PDFInvalidObject,
  PDFName,
  type PDFObject,
  PDFParser,
  PDFRawStream,
  PDFRef,
  PDFStream,
} from '@cantoo/pdf-lib';
import { Refusal } from '../refusal.ts';

export const name = (text: string): PDFName => PDFName.of(text);

export interface Page {
  readonly ref: PDFRef;
  readonly dict: PDFDict;
  /** Its own resources, or those of the nearest node above it (ISO 32000-2 §7.7.3.4). */
  readonly resources: PDFDict | undefined;
}

export interface Pdf {
  readonly context: PDFContext;
  readonly catalog: PDFDict;
  readonly pages: readonly Page[];
}

interface Demands {
  readonly maxPages: number;
  readonly allowSigned: boolean;
}

/** Throws `pdf_encrypted`, `pdf_signed` (unless `allowSigned`), `pdf_damaged`, `pdf_too_complex` (more than `maxPages`). */
export const openPdf = async (bytes: Uint8Array, demands: Demands): Promise<Pdf> => checked(await parse(bytes), demands);

/** Like openPdf, for an already parsed document. */
export function checked(context: PDFContext, { maxPages, allowSigned }: Demands): Pdf {
  if (context.trailerInfo.Encrypt !== undefined)
    throw new Refusal('pdf_encrypted', 'The PDF is encrypted. Remove its password and its restrictions first.');
  const catalog = context.lookup(context.trailerInfo.Root);
  if (!(catalog instanceof PDFDict)) throw damaged('it has no catalog');
  const pages = pagesOf(context, catalog, maxPages);
  if (!allowSigned && isSigned(context))
    throw new Refusal('pdf_signed', 'The PDF is signed, and any change would break the signature. Use force to accept that.');
  return { context, catalog, pages };
}

export const damaged = (what: string): Refusal =>
  new Refusal('pdf_damaged', `The PDF is damaged: ${what}. Print or export it again.`);

async function parse(bytes: Uint8Array): Promise<PDFContext> {
  try {
    return await PDFParser.forBytesWithOptions(bytes, Infinity).parseDocument();
  } catch (error) {
    throw damaged(error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it cannot be read');
  }
}

interface Node {
  readonly value: PDFObject;
  readonly resources: PDFDict | undefined;
}

function pagesOf(context: PDFContext, catalog: PDFDict, maxPages: number): Page[] {
  const pages: Page[] = [];
  const seen = new Set<PDFRef>();
  const root = catalog.get(name('Pages'));
  const next: Node[] = root === undefined ? [] : [{ value: root, resources: undefined }];
  for (let node = next.pop(); node; node = next.pop()) {
    if (!(node.value instanceof PDFRef)) throw damaged('a page is not an indirect object');
    if (seen.has(node.value)) throw damaged('its tree of pages has a loop');
    seen.add(node.value);
    const dict = context.lookup(node.value);
    if (!(dict instanceof PDFDict)) throw damaged('a page is missing');
    const own = dict.lookup(name('Resources'));
    const resources = own instanceof PDFDict ? own : node.resources;
    const kids = dict.lookup(name('Kids'));
    // Pushes one at a time: a call does not accept a hundred thousand arguments.
    if (kids instanceof PDFArray) for (const value of kids.asArray().toReversed()) next.push({ value, resources });
    else pages.push({ ref: node.value, dict, resources });
    if (pages.length > maxPages || seen.size > 4 * maxPages + 1_000)
      throw new Refusal('pdf_too_complex', `The PDF has more than ${maxPages} pages.`);
  }
  if (pages.length === 0) throw damaged('it has no pages');
  return pages;
}

/**
 * A signature is a dictionary with the range of bytes that it covers (ISO 32000-2 §12.8.1); an unsigned signature field has none.
 */
const isSigned = (context: PDFContext): boolean =>
  context.enumerateIndirectObjects().some(([, object]) => object instanceof PDFDict && isSignature(object));

const isSignature = (dict: PDFDict): boolean =>
  (dict.has(name('ByteRange')) && dict.has(name('Contents'))) ||
  dict.values().some((value) => value instanceof PDFDict && value.has(name('ByteRange')) && value.has(name('Contents')));

/** Returns all objects that the document uses, by reference. Throws `pdf_damaged` if one of them cannot be read. */
export function reachable(context: PDFContext): Map<PDFRef, PDFObject> {
  const found = new Map<PDFRef, PDFObject>();
  const next: PDFObject[] = [context.trailerInfo.Root, context.trailerInfo.Info].filter((root) => root !== undefined);
  for (let object = next.pop(); object; object = next.pop()) {
    if (object instanceof PDFRef) {
      const target = found.has(object) ? undefined : context.lookup(object);
      if (target === undefined) continue;
      if (target instanceof PDFInvalidObject) throw damaged(`object ${object.objectNumber} cannot be read`);
      found.set(object, target);
      next.push(target);
    } else for (const child of childrenOf(object)) next.push(child);
  }
  return found;
}

/** Deletes objects without references, including replaced ones. */
export function dropUnused(context: PDFContext): void {
  const used = reachable(context);
  for (const [ref] of context.enumerateIndirectObjects()) if (!used.has(ref)) context.delete(ref);
}

function childrenOf(object: PDFObject): readonly PDFObject[] {
  if (object instanceof PDFArray) return object.asArray();
  if (object instanceof PDFDict) return object.values();
  return object instanceof PDFStream ? object.dict.values() : [];
}

/** Returns the form or image that a page or a form names. */
export function xObject(resources: PDFDict | undefined, key: string): { ref: PDFRef; stream: PDFRawStream } | undefined {
  const known = resources?.lookup(name('XObject'));
  const ref = known instanceof PDFDict ? known.get(PDFName.of(key)) : undefined;
  const stream = ref instanceof PDFRef && known instanceof PDFDict ? known.context.lookup(ref) : undefined;
  return ref instanceof PDFRef && stream instanceof PDFRawStream ? { ref, stream } : undefined;
}

/** Returns the numbers of an array of exactly `length`, such as a matrix or a rectangle. */
export function numbersOf(value: PDFObject | undefined, length: number): number[] | undefined {
  if (!(value instanceof PDFArray) || value.size() !== length) return undefined;
  const numbers = value.asArray().map((entry) => Number(entry.toString()));
  return numbers.every(Number.isFinite) ? numbers : undefined;
}
