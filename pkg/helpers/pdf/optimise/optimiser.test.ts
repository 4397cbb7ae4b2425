import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect, test } from '@jest/globals';
import { PDFDocument, PDFName } from '@cantoo/pdf-lib';
import { getDocumentProxy } from 'unpdf';
import { listen } from '../../../runtime/ops-server.ts';
import { jpegHeader } from './jpeg.ts';
import { type Helpers, startHelpers } from '../../../../test/support/programs/helper-program.ts';
import { waitFor } from '../../../../test/support/wait.ts';
import {
  encryptedPdf,
  HOSTILE,
  imageHeavyPdf,
  imagesOf,
  objectHeavyPdf,
  signedPdf,
  textPdf,
} from '../../../../test/support/data/pdfs.ts';

const optimise = (helpers: Helpers, pdf: Uint8Array, fields: Record<string, string> = {}) =>
  helpers.convert('/optimize', pdf, fields);

async function textOf(pdf: Uint8Array): Promise<string[]> {
  const document = await getDocumentProxy(Uint8Array.from(pdf));
  const pages = Array.from({ length: document.numPages }, async (_, index) => {
    const { items } = await (await document.getPage(index + 1)).getTextContent();
    return items.map((item) => ('str' in item ? item.str : '')).join('');
  });
  return Promise.all(pages);
}

/** If qpdf and Ghostscript are not installed, the library runs for them too. */
const WAYS = [
  ['the library', ''],
  ['the library, qpdf and Ghostscript', 'qpdf,gs'],
] as const;

test.each(WAYS)('%s: an image-heavy PDF loses 40 %% of its bytes, and no page or text', async (_, programs) => {
  await using helpers = await startHelpers({ CARREL_HELPERS_PDF_PROGRAMS: programs });
  const pdf = await imageHeavyPdf();

  const { status, type, bytes } = await optimise(helpers, pdf);

  expect([status, type]).toEqual([200, 'application/pdf']);
  expect(bytes.length).toBeLessThan(0.6 * pdf.length);
  expect(await textOf(bytes)).toEqual(['Photo 1', 'Photo 2']);
});

test.each(WAYS)('%s: an object-heavy PDF loses 10 %% of its bytes, and no page, text or link', async (_, programs) => {
  await using helpers = await startHelpers({ CARREL_HELPERS_PDF_PROGRAMS: programs });
  const pdf = await objectHeavyPdf();

  const { bytes } = await optimise(helpers, pdf, { quality: 'high' });

  expect(bytes.length).toBeLessThan(0.9 * pdf.length);
  expect(await textOf(bytes)).toEqual(await textOf(pdf));
  const document = await PDFDocument.load(bytes);
  expect(document.getPages().map((page) => page.node.Annots()?.size())).toEqual(Array.from({ length: 60 }, () => 4));
});

test('a better quality has more pixels and more bytes', async () => {
  await using helpers = await startHelpers({ CARREL_HELPERS_PDF_PROGRAMS: '' });
  const pdf = await imageHeavyPdf();

  const results = await Promise.all(
    ['low', 'medium', 'high'].map(async (quality) => (await optimise(helpers, pdf, { quality })).bytes),
  );
  const documents = await Promise.all(results.map((bytes) => PDFDocument.load(bytes)));

  // 172.8 points are 2.4 inches.
  expect(documents.map((document) => jpegHeader(imagesOf(document)[0]?.contents ?? new Uint8Array())?.width)).toEqual([
    230, 360, 528,
  ]);
  expect(results.map(({ length }) => length)).toEqual(results.map(({ length }) => length).toSorted((one, other) => one - other));
});

test('a PDF that is as small as it gets comes back as it was', async () => {
  await using helpers = await startHelpers();
  const once = (await optimise(helpers, await objectHeavyPdf())).bytes;

  const { bytes } = await optimise(helpers, once);

  expect(bytes.length).toBeLessThanOrEqual(once.length);
  const small = Buffer.from(
    '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj ' +
      '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>',
  );
  expect((await optimise(helpers, small)).bytes.equals(small)).toBe(true);
});

test('a signed PDF is refused unless force is given', async () => {
  await using helpers = await startHelpers();
  const pdf = await signedPdf();

  expect(await optimise(helpers, pdf)).toMatchObject({ status: 422, error: 'pdf_signed' });
  expect(await optimise(helpers, pdf, { force: 'true' })).toMatchObject({ status: 200 });
});

test.each([
  ['an encrypted PDF', encryptedPdf, {}, 422, 'pdf_encrypted'],
  ['a text', async () => Buffer.from('Hello'), {}, 415, 'unsupported_media_type'],
  ['an unknown quality', async () => (await textPdf()).save(), { quality: 'best' }, 400, 'validation_failed'],
  ['an unknown field', async () => (await textPdf()).save(), { colour: 'blue' }, 400, 'validation_failed'],
  ['too many pages', async () => (await textPdf('Hello', 21)).save(), {}, 422, 'pdf_too_complex'],
  ['too many bytes', async () => Buffer.concat([Buffer.from('%PDF-1.7'), Buffer.alloc(5 << 20)]), {}, 413, 'payload_too_large'],
])('%s is refused in words', async (_, pdf, fields, status, error) => {
  await using helpers = await startHelpers({ CARREL_HELPERS_PDF_MAX_PAGES: '20', CARREL_HELPERS_PDF_MAX_MIB: '4' });

  const reply = await optimise(helpers, await pdf(), fields as Record<string, string>);

  expect([reply.status, reply.error]).toEqual([status, error]);
  expect(reply.message).toMatch(/\w+ \w+/);
});

test.each(HOSTILE)('a PDF that %s ends within the limits', async (_, make) => {
  await using helpers = await startHelpers({ CARREL_HELPERS_PDF_MEMORY_MIB: '300', CARREL_HELPERS_TIMEOUT_SECONDS: '25' });
  const pdf = await make();
  const started = Date.now();

  const { status } = await optimise(helpers, pdf);

  expect([200, 422]).toContain(status);
  // Beyond its 25 s, a busy machine needs time to begin and end it; without a limit it takes minutes.
  expect(Date.now() - started).toBeLessThan(60_000);
});

test('while PDFs that take all memory and time they can are refused, others are served', async () => {
  await using helpers = await startHelpers({
    CARREL_HELPERS_PDF_MEMORY_MIB: '200',
    CARREL_HELPERS_PDF_CONCURRENCY: '4',
    CARREL_HELPERS_TIMEOUT_SECONDS: '55',
  });
  const hostile = HOSTILE.filter(([what]) => /circle|bomb|deep/.test(what)).slice(0, 3);
  const refused = hostile.map(async ([, make]) => optimise(helpers, await make()));

  expect((await optimise(helpers, await (await textPdf()).save())).status).toBe(200);
  expect((await Promise.all(refused)).every(({ status }) => status === 200 || status === 422)).toBe(true);
  const received = /carrel_helper_pdf_bytes_total\{operation="optimize",side="received",program="helpers"\} \d+/;
  await waitFor('the metric', async () => received.test(await helpers.metrics()));
});

test.each([
  ['all of its time', 0.9, '/optimize', {}],
  // It asks a translator that never answers.
  ['a part of its time', 0.55, '/translate', { target_lang: 'es', source_lang: 'en' }],
] as const)('a PDF that waited for others for %s is refused as busy, not as too complex', async (_, share, path, fields) => {
  const timeoutMs = 10_000;
  const silent = createServer(() => undefined);
  await listen(silent, 0, '127.0.0.1');
  await using helpers = await startHelpers({
    CARREL_HELPERS_PDF_CONCURRENCY: '1',
    CARREL_HELPERS_TIMEOUT_SECONDS: String(timeoutMs / 1_000),
    CARREL_HELPERS_PROVIDERS: 'libretranslate',
    CARREL_LIBRETRANSLATE_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
  });
  const pdf = await (await textPdf()).save();
  const slow = request(`${helpers.url}/optimize`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  });
  slow.on('error', () => undefined); // The request is aborted below.
  slow.write('--b\r\n');
  await waitFor('the slot to be taken', async () => slotsOf('running').test(await helpers.metrics()));

  const waiting = helpers.convert(path, pdf, fields);
  await waitFor('the PDF to wait', async () => slotsOf('waiting').test(await helpers.metrics()));
  // The clock jumps: in a real wait a busy machine may stand still until the whole time is over, which is another refusal.
  const later = Date.now() + share * timeoutMs;
  const clock = mock.method(Date, 'now', () => later);
  slow.destroy();
  const reply = await waiting.finally(() => clock.mock.restore());
  silent.close();
  silent.closeAllConnections();

  expect(reply).toMatchObject({ status: 503, error: 'busy', message: expect.stringContaining('waited for others') });
});

const slotsOf = (state: string): RegExp => new RegExp(`^carrel_helper_slots\\{kind="pdfs",state="${state}"[^}]*\\} 1$`, 'm');

/** Puts a Ghostscript and a qpdf that run this script before the machine's own. */
async function programsThatRun(script: string): Promise<AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'programs-'));
  for (const name of ['gs', 'qpdf']) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  const path = process.env['PATH'];
  process.env['PATH'] = `${folder}:${path}`;
  return {
    async [Symbol.asyncDispose]() {
      process.env['PATH'] = path;
      await rm(folder, { recursive: true });
    },
  };
}

/** Gives the helpers a separate folder for temporary files. */
async function temporaryFolder(): Promise<AsyncDisposable & { files(): Promise<string[]> }> {
  const folder = await mkdtemp(join(tmpdir(), 'temporary-'));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  return {
    files: () => readdir(folder, { recursive: true }),
    async [Symbol.asyncDispose]() {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
      await rm(folder, { recursive: true });
    },
  };
}

/** Programs of this name that misbehave. */
const BAD_PROGRAMS = [
  ['fails', 'exit 1', '55'],
  ['writes nothing', 'exit 0', '55'],
  ['never ends', 'sleep 60', '12'],
  ['fills the disk', 'for last; do :; done; yes > "$last"', '55'],
  ['writes garbage', 'echo garbage | tee gs.pdf > qpdf.pdf', '55'],
] as const;

test.each(BAD_PROGRAMS)('a program that %s changes nothing of what the library made', async (_, script, seconds) => {
  await using _programs = await programsThatRun(script);
  await using helpers = await startHelpers({ CARREL_HELPERS_PDF_MAX_MIB: '1', CARREL_HELPERS_TIMEOUT_SECONDS: seconds });

  const { status, bytes } = await optimise(helpers, await (await textPdf('Hello', 20)).save({ useObjectStreams: false }));

  expect(status).toBe(200);
  expect(await textOf(bytes)).toEqual(Array.from({ length: 20 }, () => 'Hello'));
});

test('forms stay fillable: Ghostscript does not get them', async () => {
  await using helpers = await startHelpers();
  const document = await PDFDocument.load(await imageHeavyPdf());
  document.getForm().createTextField('name').addToPage(document.getPage(0), { x: 60, y: 100, width: 200, height: 20 });

  const { bytes } = await optimise(helpers, await document.save({ useObjectStreams: false }));

  const optimised = await PDFDocument.load(bytes);
  expect(optimised.getForm().getTextField('name').isReadOnly()).toBe(false);
  expect(optimised.catalog.has(PDFName.of('AcroForm'))).toBe(true);
});

test('nothing of a request stays on the disk', async () => {
  await using temporary = await temporaryFolder();
  await using helpers = await startHelpers();

  await optimise(helpers, await signedPdf());
  await optimise(helpers, await (await textPdf()).save());

  await waitFor('an empty folder', async () => (await temporary.files()).length === 0);
});

test('nothing of a request that is broken off during its upload stays on the disk', async () => {
  await using temporary = await temporaryFolder();
  await using helpers = await startHelpers();
  const left = new AbortController();
  const form = `--b\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.7\n`;
  const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(form)) });
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const broken = fetch(`${helpers.url}/optimize`, { method: 'POST', headers, body, duplex: 'half', signal: left.signal });

  await Promise.race([
    waitFor('the upload', async () => (await temporary.files()).some((name) => name.endsWith('.pdf'))),
    tooEarly(broken),
  ]);
  left.abort();

  await expect(broken).rejects.toThrow(/abort/i);
  await waitFor('an empty folder', async () => (await temporary.files()).length === 0);
});

test('nothing of a request that is broken off during its conversion stays on the disk', async () => {
  await using _programs = await programsThatRun('touch started; sleep 60');
  await using temporary = await temporaryFolder();
  await using helpers = await startHelpers();
  const left = new AbortController();
  const broken = helpers.convert('/optimize', await (await textPdf()).save(), {}, left.signal);

  await Promise.race([
    waitFor('Ghostscript', async () => (await temporary.files()).some((name) => name.endsWith('started'))),
    tooEarly(broken),
  ]);
  left.abort();

  await expect(broken).rejects.toThrow(/abort/i);
  await waitFor('an empty folder', async () => (await temporary.files()).length === 0);
});

const tooEarly = (reply: Promise<{ status: number }>): Promise<never> =>
  reply.then(({ status }) => Promise.reject(new Error(`the request ended too early, with ${status}`)));
