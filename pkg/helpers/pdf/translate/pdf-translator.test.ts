import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { degrees, PDFDict, PDFDocument, PDFHexString, PDFName, PDFString, TextRenderingMode } from '@cantoo/pdf-lib';
import { expect, test } from '@jest/globals';
import { getDocumentProxy } from 'unpdf';
import { jpegOf } from '../optimise/jpeg.ts';
import { type Helpers, startHelpers } from '../../../../test/support/programs/helper-program.ts';
import { layoutPdf, TABLE } from '../../../../test/support/data/layout-pdf.ts';
import { encryptedPdf, HOSTILE, imageHeavyPdf, photo, signedPdf, textPdf } from '../../../../test/support/data/pdfs.ts';
import { startTranslationService } from '../../../../test/support/fakes/translation-services.ts';

const toSpanish = (helpers: Helpers, pdf: Uint8Array, fields: Record<string, string> = {}) =>
  helpers.convert('/translate', pdf, { target_lang: 'es', ...fields });

interface Item {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

/** Returns the items that pdf.js finds on each page, with their positions. */
async function itemsOf(pdf: Uint8Array): Promise<Item[][]> {
  const document = await getDocumentProxy(Uint8Array.from(pdf));
  const pages = Array.from({ length: document.numPages }, async (_, index) => {
    const { items } = await (await document.getPage(index + 1)).getTextContent();
    return items.flatMap((item) => {
      if (!('str' in item) || item.str.trim() === '') return [];
      const [a = 0, b = 0, , , x = 0, y = 0] = item.transform as number[];
      return [{ text: item.str, x: Math.round(x), y: Math.round(y), size: Math.hypot(a, b) }];
    });
  });
  return Promise.all(pages);
}

const textOf = async (pdf: Uint8Array): Promise<string> =>
  (await itemsOf(pdf)).flatMap((items) => items.map(({ text }) => text)).join(' ');

/** The dictionary's translations of the words in the table. */
const SPANISH: Readonly<Record<string, string>> = {
  Name: 'Nombre',
  Number: 'Número',
  Price: 'Precio',
  Month: 'Mes',
  Apples: 'Manzanas',
  Bread: 'Pan',
  Orange: 'Naranja',
  January: 'Enero',
  February: 'Febrero',
  March: 'Marzo',
};

test('headings, columns, tables, labels and turned text stand in Spanish where they stood in English', async () => {
  await using helpers = await startHelpers();
  const pdf = await layoutPdf();

  const { status, type, bytes } = await toSpanish(helpers, pdf);

  expect([status, type]).toEqual([200, 'application/pdf']);
  const [before, after] = [await itemsOf(pdf), await itemsOf(bytes)];
  const originsOf = (pages: Item[][], text: string): number[][] =>
    pages.flatMap((items, page) => items.filter((item) => item.text.startsWith(text)).map(({ x, y }) => [page, x, y]));
  const pairs = [
    ['The history', 'El historia de ciencia'],
    ['Introduction', 'Introducción'],
    ['The teacher', 'El profesor lee un libro'],
    ['The summary', 'El resumen de el curso'],
    ['First name', 'Primero nombre'],
    ['Language', 'Idioma'],
    ['This page', 'Este página'],
    ['The students see', 'El estudiantes ver'],
    ['Chapter one', 'Capítulo uno'],
    ['The street', 'El calle es largo.'],
    ...TABLE.flat().map((cell) => [cell, SPANISH[cell] ?? cell]),
  ] as const;
  for (const [english, spanish] of pairs) {
    expect([spanish, originsOf(after, spanish)]).toEqual([spanish, originsOf(before, english)]);
    if (english !== spanish) expect([english, originsOf(after, english)]).toEqual([english, []]);
  }
  expect(await textOf(bytes)).not.toMatch(/\b(the|teacher|students|library|summary|university)\b/i);
  expect(await textOf(bytes)).toContain('2026 - 42 % - 3.14');
});

test('a translated paragraph stays in its column, and no text is smaller than two thirds of what it was', async () => {
  await using helpers = await startHelpers();

  const [page = []] = await itemsOf((await toSpanish(helpers, await layoutPdf())).bytes);

  const left = page.filter(({ x, y }) => x === 50 && y < 700 && y > 600);
  const right = page.filter(({ x, y }) => x === 310 && y < 700 && y > 600);
  expect([left.length, right.length]).toEqual([4, 4]);
  expect(Math.min(...[...left, ...right].map(({ size }) => size))).toBeGreaterThan(11 * 0.66);
});

test('form values, choices, captions, tooltips, bookmarks and the title are translated; submitted values are not', async () => {
  await using helpers = await startHelpers();
  const document = await PDFDocument.load(await layoutPdf());
  const { context, catalog } = document;
  const bookmark = context.register(context.obj({ Title: PDFString.of('Chapter one') }));
  catalog.set(PDFName.of('Outlines'), context.obj({ Type: 'Outlines', First: bookmark, Last: bookmark, Count: 1 }));
  document.getForm().getTextField('name').acroField.dict.set(PDFName.of('TU'), PDFString.of('Name'));

  const translated = await PDFDocument.load((await toSpanish(helpers, await document.save())).bytes);

  const form = translated.getForm();
  const name = form.getTextField('name');
  expect(name.getText()).toBe('el bueno amigo');
  expect((name.acroField.dict.lookup(PDFName.of('TU')) as PDFString).decodeText()).toBe('Nombre');
  const options = form.getDropdown('language').acroField.getOptions();
  expect(options.map(({ value, display }) => [value.decodeText(), display.decodeText()])).toEqual([
    ['English', 'Inglés'],
    ['Spanish', 'Español'],
  ]);
  expect(form.getButton('send').acroField.getWidgets()[0]?.getAppearanceCharacteristics()?.getCaptions().normal).toBe('Enviar');
  expect(translated.getTitle()).toBe('El historia de ciencia');
  const outlines = translated.catalog.lookup(PDFName.of('Outlines'));
  const chapter =
    outlines instanceof PDFDict
      ? outlines.lookup(PDFName.of('First'), PDFDict).lookup(PDFName.of('Title'), PDFHexString)
      : undefined;
  expect(chapter?.decodeText()).toBe('Capítulo uno');
  expect(String(translated.catalog.lookup(PDFName.of('Lang')))).toBe('(es)');
});

test('lines of a paragraph are one text, with a divided word whole again; rows of a table are not', async () => {
  await using service = await startTranslationService('deepl');
  await using helpers = await startHelpers({ CARREL_DEEPL_KEY: 'key', CARREL_DEEPL_URL: service.url });
  const document = await PDFDocument.create();
  const page = document.addPage([400, 400]);
  for (const [index, line] of ['Those who read many books come to the uni-', 'versity with a wish to learn.'].entries())
    page.drawText(line, { x: 40, y: 300 - 16 * index, size: 12 });
  for (const [index, [left, right]] of [
    ['Monday', 'closed'],
    ['Wednesday', 'open'],
    ['Saturday', 'open'],
  ].entries()) {
    page.drawText(left ?? '', { x: 40, y: 200 - 15 * index, size: 12 });
    page.drawText(right ?? '', { x: 180, y: 200 - 15 * index, size: 12 });
  }

  await toSpanish(helpers, await document.save());

  const sent = service.seen.flatMap(({ body }) => (body as { text?: string[] } | undefined)?.text ?? []);
  expect(sent).toEqual([
    'Those who read many books come to the university with a wish to learn.',
    'Monday',
    'closed',
    'Wednesday',
    'open',
    'Saturday',
  ]);
});

test('a form on several pages is translated once on each of them, and names and numbers keep their font', async () => {
  await using helpers = await startHelpers();
  const source = await PDFDocument.create();
  const stamp = source.addPage([200, 60]);
  stamp.drawText('The good school', { x: 10, y: 20, size: 14 });
  stamp.drawText('Xyzzy 2026', { x: 10, y: 40, size: 8 });
  const document = await PDFDocument.create();
  const [embedded] = await document.embedPdf(await source.save());
  if (!embedded) throw new Error('nothing embedded');
  for (const y of [700, 100]) document.addPage([595, 842]).drawPage(embedded, { x: 50, y, rotate: degrees(0) });

  const { bytes } = await toSpanish(helpers, await document.save());

  const items = await itemsOf(bytes);
  const of = (text: string) => items.map((page) => page.filter((item) => item.text === text).map(({ x, y }) => [x, y]));
  expect(of('El bueno escuela')).toEqual([[[60, 720]], [[60, 120]]]);
  expect(of('Xyzzy 2026')).toEqual([[[60, 740]], [[60, 140]]]);
  expect(await textOf(bytes)).not.toContain('school');
});

test('the text layer of a scan is translated, and covers the picture of the text', async () => {
  await using helpers = await startHelpers();
  const document = await PDFDocument.load(await imageHeavyPdf());
  const page = document.getPage(0);
  page.drawText('The teacher', { x: 70, y: 420, size: 12, renderMode: TextRenderingMode.Invisible });

  const { bytes } = await toSpanish(helpers, await document.save());

  expect(await textOf(bytes)).toContain('El profesor');
  expect(await textOf(bytes)).not.toContain('teacher');
});

test.each([
  ['a scan', async () => scan(), {}, 422, 'pdf_without_text'],
  ['an encrypted PDF', encryptedPdf, {}, 422, 'pdf_encrypted'],
  ['no PDF', async () => Buffer.from('Hello'), {}, 415, 'unsupported_media_type'],
  ['a language of other letters', async () => (await textPdf()).save(), { target_lang: 'ja' }, 422, 'script_unsupported'],
  ['a language that no translator knows', async () => (await textPdf()).save(), { target_lang: 'de' }, 400, 'language_unknown'],
  ['no language', async () => (await textPdf()).save(), { target_lang: '' }, 400, 'language_unknown'],
])('%s is refused in words', async (_, pdf, fields, status, error) => {
  await using helpers = await startHelpers();

  const reply = await toSpanish(helpers, await pdf(), fields as Record<string, string>);

  expect([reply.status, reply.error]).toEqual([status, error]);
  expect(reply.message).toMatch(/\w+ \w+/);
});

async function scan(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const picture = await document.embedJpg(await jpegOf(photo(90, 60), { quality: 80, isGray: false }));
  document.addPage([595, 842]).drawImage(picture, { x: 0, y: 0, width: 595, height: 842 });
  return document.save();
}

test('a signed PDF is translated, and its signature is gone: it was of another text', async () => {
  await using helpers = await startHelpers();

  const { status, bytes } = await toSpanish(helpers, await signedPdf());

  expect(status).toBe(200);
  expect(bytes.toString('latin1')).not.toContain('ByteRange');
  expect(await textOf(bytes)).toBe('El profesor lee un libro.');
});

test('while no translator answers, the reply is 503 with the reason', async () => {
  await using deepl = await startTranslationService('deepl');
  deepl.fault = 'refuses';
  await using helpers = await startHelpers({
    CARREL_HELPERS_PROVIDERS: 'deepl',
    CARREL_DEEPL_KEY: 'key',
    CARREL_DEEPL_URL: deepl.url,
  });

  expect(await toSpanish(helpers, await (await textPdf()).save())).toMatchObject({ status: 503, error: 'unavailable' });
});

const SOME = HOSTILE.filter(([what]) => /garbage|cut off|circle|bomb in|billion/.test(what));

test.each(SOME)('a PDF that %s ends within the limits', async (_, make) => {
  await using helpers = await startHelpers({ CARREL_HELPERS_PDF_MEMORY_MIB: '300', CARREL_HELPERS_TIMEOUT_SECONDS: '25' });

  expect([200, 422]).toContain((await toSpanish(helpers, await make())).status);
});

interface Picture {
  readonly width: number;
  readonly pixels: Buffer;
}

/** Renders the first page at 72 dpi with poppler, if it is installed: three bytes per pixel, from the top. */
async function rendered(pdf: Uint8Array): Promise<Picture | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'rendered-'));
  try {
    await writeFile(join(folder, 'a.pdf'), pdf);
    const { status } = spawnSync('pdftoppm', [
      '-r',
      '72',
      '-f',
      '1',
      '-l',
      '1',
      '-singlefile',
      join(folder, 'a.pdf'),
      join(folder, 'a'),
    ]);
    if (status !== 0) return undefined;
    const file = await readFile(join(folder, 'a.ppm'));
    const [header = '', width = '0'] = /^P6\s(\d+)\s(\d+)\s255\s/.exec(file.subarray(0, 40).toString('latin1')) ?? [];
    return { width: Number(width), pixels: file.subarray(header.length) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('a rendered page differs where text stood, and nowhere else', async () => {
  await using helpers = await startHelpers();
  const pdf = await layoutPdf();
  const [before, after] = [await rendered(pdf), await rendered((await toSpanish(helpers, pdf)).bytes)];
  if (!before || !after) return expect([before, after]).toEqual([undefined, undefined]);
  const pixel = ({ width, pixels }: Picture, x: number, y: number): string =>
    pixels.subarray(((842 - y) * width + x) * 3, ((842 - y) * width + x) * 3 + 3).join();
  const area = (picture: Picture, [left, bottom, right, top]: readonly [number, number, number, number]): string[] => {
    const found: string[] = [];
    for (let y = bottom; y < top; y += 1) for (let x = left; x < right; x += 1) found.push(pixel(picture, x, y));
    return found;
  };
  const HEADING = [45, 775, 450, 825] as const;
  const COLUMN = [45, 640, 300, 705] as const;
  const untouched = [
    [0, 755, 595, 773], // of the blue band
    [45, 560, 54, 581], // borders of the table
    [175, 496, 185, 582],
    [0, 0, 595, 230],
  ] as const;

  for (const box of untouched) expect(area(after, box)).toEqual(area(before, box));
  for (const box of [HEADING, COLUMN]) expect(area(after, box)).not.toEqual(area(before, box));
  // White letters on blue, dark ones on white.
  expect(area(after, HEADING).filter((color) => color === '255,255,255').length).toBeGreaterThan(300);
  expect(area(after, COLUMN).filter((color) => color.split(',').every((part) => Number(part) < 100)).length).toBeGreaterThan(300);
});
