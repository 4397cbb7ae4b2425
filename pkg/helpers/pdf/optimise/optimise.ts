import { PDFDict, PDFHeader, PDFRawStream, PDFStreamWriter, PDFWriter } from '@cantoo/pdf-lib';
import { dropUnused, name, openPdf, type Pdf, reachable } from '../document.ts';
import { mergeDuplicates } from './duplicates.ts';
import { type ImageRules, imagesAmong, masksAmong, smallerImage } from './images.ts';
import { placementsOf } from './placements.ts';
import { recompressed } from './recompress.ts';

export type Quality = 'low' | 'medium' | 'high';

const RULES: Readonly<Record<Quality, ImageRules>> = {
  low: { jpegQuality: 45, dpi: 96 },
  medium: { jpegQuality: 65, dpi: 150 },
  high: { jpegQuality: 82, dpi: 220 },
};

/** Object and cross-reference streams require 1.5, and PDF/A-1 forbids them. */
const OBJECTS_PER_STREAM = 200;

interface Optimised {
  readonly bytes: Uint8Array;
  readonly pages: number;
  /**
   * The document has only pages: no forms, structure, attachments, layers or claim of a standard, which Ghostscript would lose.
   */
  readonly isPlain: boolean;
}

/**
 * Makes a PDF smaller and preserves its appearance and content. Images come last if time runs out: after `imagesUntil` (ms since
 * the epoch) they stay unchanged. Throws as openPdf does.
 */
export async function optimise(
  bytes: Uint8Array,
  options: { quality: Quality; allowSigned: boolean; maxPages: number; imagesUntil: number },
): Promise<Optimised> {
  const pdf = await openPdf(bytes, options);
  const { context } = pdf;
  for (const { dict } of pdf.pages) for (const key of ['Thumb', 'PieceInfo']) dict.delete(name(key));
  await shrinkImages(pdf, RULES[options.quality], options.imagesUntil);
  for (const [ref, object] of reachable(context)) {
    const smaller = object instanceof PDFRawStream ? recompressed(object) : undefined;
    if (smaller) context.assign(ref, smaller);
  }
  mergeDuplicates(context);
  dropUnused(context);
  return { bytes: await written(pdf), pages: pdf.pages.length, isPlain: isPlain(pdf) };
}

async function shrinkImages(pdf: Pdf, rules: ImageRules, until: number): Promise<void> {
  const images = imagesAmong(reachable(pdf.context));
  if (images.length === 0) return;
  const placements = placementsOf(pdf);
  const masks = masksAmong(images);
  for (const [ref, image] of images) {
    if (Date.now() > until) return;
    if (masks.has(ref)) continue;
    const smaller = await smallerImage(image, placements?.get(ref), rules).catch(() => undefined);
    if (smaller) pdf.context.assign(ref, smaller);
  }
}

async function written({ context, catalog }: Pdf): Promise<Uint8Array> {
  if (isPdfA1(catalog)) return PDFWriter.forContext(context, Infinity).serializeToBuffer();
  // The writer keeps page objects out of object streams; as plain dictionaries they are included.
  for (const [ref, object] of context.enumerateIndirectObjects())
    if (object instanceof PDFDict && object !== context.lookup(context.trailerInfo.Root))
      context.assign(ref, PDFDict.fromMapWithContext(new Map(object.entries()), context));
  context.header = PDFHeader.forVersion(1, 7);
  return PDFStreamWriter.forContext(context, Infinity, true, OBJECTS_PER_STREAM).serializeToBuffer();
}

function metadataOf(catalog: PDFDict): string {
  const metadata = catalog.lookup(name('Metadata'));
  return metadata instanceof PDFRawStream ? Buffer.from(metadata.contents).toString('latin1') : '';
}

const isPdfA1 = (catalog: PDFDict): boolean => /pdfaid:part\s*(?:=\s*["']|>)\s*1/.test(metadataOf(catalog));

function isPlain({ catalog }: Pdf): boolean {
  const names = catalog.lookup(name('Names'));
  const holdsFiles = names instanceof PDFDict && ['EmbeddedFiles', 'JavaScript'].some((key) => names.has(name(key)));
  const holdsMore = ['AcroForm', 'StructTreeRoot', 'OCProperties', 'OutputIntents', 'Collection'].some((key) =>
    catalog.has(name(key)),
  );
  return !holdsFiles && !holdsMore && !/pdf(?:a|ua|x)id/.test(metadataOf(catalog));
}
