import { createHash } from 'node:crypto';
import {
  PDFArray,
  type PDFContext,
  PDFDict,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFRawStream,
  PDFRef,
  PDFStream,
} from '@cantoo/pdf-lib';
import { name, reachable } from '../document.ts';

/**
 * Kinds of dictionaries that are defined by their content. Pages, annotations and fields have an identity: two equal ones are
 * distinct.
 */
const VALUES = new Set(['Font', 'FontDescriptor', 'ExtGState', 'Encoding'].map((type) => PDFName.of(type)));
/** An object that becomes equal only after the objects in it do needs another round. */
const ROUNDS = 6;

/** Keeps one of several equal objects, and redirects all references to it. */
export function mergeDuplicates(context: PDFContext): void {
  for (let round = 0; round < ROUNDS; round += 1) {
    const objects = reachable(context);
    const firsts = new Map<string, PDFRef>();
    const replaced = new Map<PDFObject, PDFRef>();
    for (const [ref, object] of objects) {
      const key = keyOf(object);
      const first = key === undefined ? undefined : firsts.get(key);
      if (first) replaced.set(ref, first);
      else if (key !== undefined) firsts.set(key, ref);
    }
    if (replaced.size === 0) return;
    for (const object of objects.values()) redirect(object, replaced);
  }
}

function keyOf(object: PDFObject): string | undefined {
  if (object instanceof PDFRawStream) return hash(object.dict.toString(), object.contents);
  const isValue =
    (object instanceof PDFDict && VALUES.has(object.lookup(name('Type')) as PDFName)) ||
    (object instanceof PDFArray && [PDFName, PDFNumber].some((kind) => object.asArray()[0] instanceof kind));
  return isValue ? hash(object.toString()) : undefined;
}

function hash(text: string, bytes: Uint8Array = new Uint8Array()): string {
  return createHash('sha256').update(text).update('\0').update(bytes).digest('base64');
}

function redirect(object: PDFObject, replaced: ReadonlyMap<PDFObject, PDFRef>): void {
  const next: PDFObject[] = [object];
  for (let each = next.pop(); each; each = next.pop()) {
    const container = each instanceof PDFStream ? each.dict : each;
    if (container instanceof PDFDict) {
      for (const [key, value] of container.entries()) {
        const other = replaced.get(value);
        if (other) container.set(key, other);
        else if (!(value instanceof PDFRef)) next.push(value);
      }
    } else if (container instanceof PDFArray) {
      for (const [index, value] of container.asArray().entries()) {
        const other = replaced.get(value);
        if (other) container.set(index, other);
        else if (!(value instanceof PDFRef)) next.push(value);
      }
    }
  }
}
