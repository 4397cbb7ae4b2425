import { PDFArray, PDFRawStream } from '@cantoo/pdf-lib';
import { name, type Page } from './document.ts';
import { decoded } from './streams.ts';

/**
 * Returns a page's content: its streams form one, divided anywhere between two words (ISO 32000-2 §7.8.2). Omits streams that
 * cannot be decoded.
 */
export function pageContent({ dict }: Page): Uint8Array {
  const contents = dict.lookup(name('Contents'));
  const streams = contents instanceof PDFArray ? contents.asArray().map((_, index) => contents.lookup(index)) : [contents];
  const parts = streams.flatMap((stream) =>
    stream instanceof PDFRawStream ? [decoded(stream) ?? new Uint8Array(), NEW_LINE] : [],
  );
  return Buffer.concat(parts);
}

const NEW_LINE = Uint8Array.of(10);
