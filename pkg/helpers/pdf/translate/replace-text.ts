import { PDFDict, PDFDocument, PDFName, PDFRawStream, type PDFRef, PDFString } from '@cantoo/pdf-lib';
import { Refusal } from '../../refusal.ts';
import { checked, dropUnused, name, type Page, type Pdf } from '../document.ts';
import { pageContent } from '../page-content.ts';
import { decoded, deflated } from '../streams.ts';
import { type Block, blocksOf } from './blocks.ts';
import { Fonts } from './fonts.ts';
import { type Field, fieldsOf } from './form-fields.ts';
import { drawn, layOut } from './layout.ts';
import { framesOf } from './lines.ts';
import { openWithPdfjs, type PageText, textOfPage } from './runs.ts';
import { asStream, openStates, type TextOperation, textOperationsOf, withoutText } from './text-operations.ts';

/** Returns as many translations as texts, in their order. */
export type Translate = (texts: readonly string[]) => Promise<readonly string[]>;

interface PageBlocks {
  readonly page: Page;
  readonly text: PageText;
  /** Undefined: they do not match what pdf.js found, so all text of the page is redrawn. */
  readonly operations: readonly TextOperation[] | undefined;
  readonly blocks: readonly { readonly block: Block; readonly angle: number }[];
}

const REGULAR = 'CarrelSans';
const BOLD = 'CarrelSansBold';
const isTranslatable = (text: string): boolean => /\p{L}{2}/u.test(text) && !/^\S+(?:@|:\/\/)\S+$/.test(text);

/**
 * Returns the PDF with each text replaced by its translation, in the same place and color, at the same size or the size that
 * fits. Unchanged text is not touched. Throws as openPdf does, and `pdf_without_text`.
 */
export async function translatePdf(
  bytes: Uint8Array,
  { target, maxPages, translate }: { target: string; maxPages: number; translate: Translate },
): Promise<{ bytes: Uint8Array; pages: number }> {
  const { document, pdf } = await open(bytes, maxPages);
  const pages = await blocksOfPages(bytes, pdf);
  const fields = fieldsOf(document).filter(({ text }) => isTranslatable(text));
  const texts = [
    ...new Set([
      ...pages.flatMap(({ blocks }) => blocks.map(({ block }) => block.text)).filter(isTranslatable),
      ...fields.map(({ text }) => text),
    ]),
  ];
  if (!pages.some(({ blocks }) => blocks.some(({ block }) => isTranslatable(block.text))))
    throw new Refusal('pdf_without_text', 'The PDF has no text, only images of it. Recognise its text first (OCR).');
  const translations = await translate(texts);
  const translated = new Map(texts.map((text, index) => [text, translations[index] ?? text]));

  const fonts = await Fonts.embed(document);
  const written = (text: string): string | undefined => {
    const translation = translated.get(text);
    return translation === undefined || translation.trim() === text.trim() ? undefined : fonts.writable(translation);
  };
  replaceOnPages(pdf, pages, fonts, written);
  replaceFields(fields, fonts, written);
  finish(pdf, target);
  dropUnused(pdf.context);
  return { bytes: await document.save({ useObjectStreams: true, updateFieldAppearances: false }), pages: pages.length };
}

async function open(bytes: Uint8Array, maxPages: number): Promise<{ document: PDFDocument; pdf: Pdf }> {
  const document = await PDFDocument.load(bytes, { ignoreEncryption: true, updateMetadata: false, parseSpeed: Infinity });
  return { document, pdf: checked(document.context, { maxPages, allowSigned: true }) };
}

async function blocksOfPages(bytes: Uint8Array, pdf: Pdf): Promise<PageBlocks[]> {
  const document = await openWithPdfjs(bytes);
  const pages: PageBlocks[] = [];
  for (const [index, page] of pdf.pages.entries()) {
    const proxy = await document.getPage(index + 1);
    const text = await textOfPage(proxy);
    proxy.cleanup();
    const operations = textOperationsOf(page);
    const blocks = framesOf(text).flatMap((frame) => blocksOf(frame).map((block) => ({ block, angle: frame.angle })));
    pages.push({ page, text, blocks, operations: operations?.length === text.advances.length ? operations : undefined });
  }
  return pages;
}

const keyOf = ({ form, index }: TextOperation, page: Page): string =>
  `${form?.toString() ?? `page ${page.ref.toString()}`} ${index}`;

function replaceOnPages(
  pdf: Pdf,
  pages: readonly PageBlocks[],
  fonts: Fonts,
  written: (text: string) => string | undefined,
): void {
  const removed = removedOperations(pages, written);
  const forms = new Set<PDFRef>();
  for (const { page, text, blocks, operations } of pages) {
    const advances = new Map((operations ?? []).map((operation, order) => [keyOf(operation, page), text.advances[order]]));
    const advanceOf = (form: PDFRef | undefined) => (at: number) => {
      const key = keyOf({ form, index: at }, page);
      return removed.has(key) ? advances.get(key) : undefined;
    };
    const content = pageContent(page);
    const own = operations ? withoutText(content, advanceOf(undefined)) : withoutText(content, () => 0);
    for (const { form } of operations ?? []) {
      if (form === undefined || forms.has(form)) continue;
      forms.add(form);
      replaceForm(pdf, form, advanceOf(form));
    }
    const overlay = blocks
      .filter(({ block }) => operations === undefined || isRemoved(block, operations, page, removed))
      .map(({ block, angle }) => {
        const isBold = block.lines[0]?.isBold === true;
        const font = isBold ? fonts.bold : fonts.regular;
        const line = written(block.text) ?? fonts.writable(block.text);
        return line === undefined || line === ''
          ? ''
          : drawn(layOut(line, block, font, angle), { block, font, angle, key: isBold ? BOLD : REGULAR });
      })
      .join('');
    if (overlay !== '') replaceContent(pdf, page, own, overlay, fonts);
  }
}

/**
 * Returns the operations to remove: those of which a block is translated. All blocks of such an operation are redrawn, so the
 * other operations of these blocks are removed too.
 */
function removedOperations(pages: readonly PageBlocks[], written: (text: string) => string | undefined): Set<string> {
  const removed = new Set<string>();
  const all = pages.flatMap(({ page, operations, blocks }) =>
    operations
      ? blocks.map(({ block }) => ({ keys: keysOf(block, operations, page), isTranslated: written(block.text) !== undefined }))
      : [],
  );
  for (let before = -1; before < removed.size;) {
    before = removed.size;
    for (const { keys, isTranslated } of all)
      if (isTranslated || keys.some((key) => removed.has(key))) for (const key of keys) removed.add(key);
  }
  return removed;
}

const keysOf = (block: Block, operations: readonly TextOperation[], page: Page): string[] =>
  block.lines.flatMap((line) =>
    [...line.operations].flatMap((order) => (operations[order] ? [keyOf(operations[order], page)] : [])),
  );

const isRemoved = (block: Block, operations: readonly TextOperation[], page: Page, removed: ReadonlySet<string>): boolean =>
  keysOf(block, operations, page).some((key) => removed.has(key));

function replaceForm({ context }: Pdf, form: PDFRef, advanceOf: (index: number) => number | undefined): void {
  const stream = context.lookup(form);
  const content = stream instanceof PDFRawStream ? decoded(stream) : undefined;
  if (!(stream instanceof PDFRawStream) || !content) return;
  const replaced = withoutText(content, advanceOf);
  if (!Buffer.from(replaced).equals(content)) context.assign(form, asStream(stream, replaced, deflated(replaced)));
}

function replaceContent({ context }: Pdf, page: Page, content: Uint8Array, overlay: string, fonts: Fonts): void {
  const close = ' Q'.repeat(openStates(content) + 1);
  const whole = Buffer.concat([Buffer.from('q\n'), content, Buffer.from(`\n${close}\n${overlay}`, 'latin1')]);
  page.dict.set(name('Contents'), context.register(context.stream(deflated(whole), { Filter: 'FlateDecode' })));
  const resources = page.resources ?? PDFDict.withContext(context);
  page.dict.set(name('Resources'), resources);
  const known = resources.lookup(name('Font'));
  const dict = known instanceof PDFDict ? known : PDFDict.withContext(context);
  resources.set(name('Font'), dict);
  dict.set(name(REGULAR), fonts.regular.ref);
  dict.set(name(BOLD), fonts.bold.ref);
}

function replaceFields(fields: readonly Field[], fonts: Fonts, written: (text: string) => string | undefined): void {
  for (const field of fields) {
    const text = written(field.text);
    if (text !== undefined) field.replace(text, fonts.regular);
  }
}

/**
 * Sets the language, and removes everything that contains the former text: texts for screen readers or copying, forms of another
 * kind, signatures of the former content.
 */
function finish({ context, catalog }: Pdf, target: string): void {
  catalog.set(name('Lang'), PDFString.of(target));
  catalog.delete(name('Perms'));
  const form = catalog.lookup(name('AcroForm'));
  if (form instanceof PDFDict) for (const key of ['XFA', 'SigFlags']) form.delete(name(key));
  for (const [, object] of context.enumerateIndirectObjects()) {
    if (!(object instanceof PDFDict)) continue;
    object.delete(name('ActualText'));
    if (object.get(name('FT')) === PDFName.of('Sig')) object.delete(name('V'));
  }
}
