import { expect, test } from '@jest/globals';
import { getDocumentProxy } from 'unpdf';
import { fixture } from '../../support/suites/fixture.ts';
import { startHelpers } from '../../support/programs/helper-program.ts';
import { encryptedPdf, imageHeavyPdf, signedPdf, textPdf } from '../../support/data/pdfs.ts';
import { configure, converted, type Job, pdfSuite, upload } from './pdf-suite.ts';

/** The product's own helpers, through a tenant. */
const { tenant } = pdfSuite({});
const at = fixture(
  async () => {
    const helpers = await startHelpers({ CARREL_HELPERS_TOKEN: 'the-token' });
    await configure(tenant, helpers);
    return { helpers, ...(await tenant.user()) };
  },
  async ({ helpers }) => helpers[Symbol.asyncDispose](),
);

async function textOf(pdf: Uint8Array): Promise<string> {
  const document = await getDocumentProxy(Uint8Array.from(pdf));
  const { items } = await (await document.getPage(1)).getTextContent();
  return items.flatMap((item) => ('str' in item ? [item.str] : [])).join('');
}

const contentOf = async (id: string): Promise<Buffer> => (await at.api.get(`/files/${id}/download`)).bytes;
const convert = async (pdf: Uint8Array, how: 'optimize' | 'translate', body: object = {}): Promise<Job> =>
  converted(at.api, await upload(at.api, Buffer.from(pdf), {}, `${Math.random()}.pdf`), how, body);

test.each([
  ['en', 'es', 'The teacher reads a book.', 'El profesor lee un libro.'],
  ['auto', 'ES-mx', 'The students and the teacher.', 'El estudiantes y el profesor.'],
  ['es', 'en-GB', 'La calle es largo.', 'The street is long.'],
])('a text in %s becomes one in %s: %s', async (source_language, target_language, text, expected) => {
  const { status, body } = await at.api.post('/translate', { text, source_language, target_language });

  expect([status, body.text, body.provider]).toEqual([200, expected, 'dictionary']);
});

test('a language that the helpers do not know is a 400 in their words, and GET /helpers names those that they know', async () => {
  const { status, body } = await at.api.post('/translate', { text: 'Hello', target_language: 'tlh' });
  const { translate, pdf_optimize, pdf_translate } = (await at.api.get('/helpers')).body;

  expect([status, body.error]).toEqual([400, 'validation_failed']);
  expect(body.details[0].message).toContain('tlh');
  expect([translate.languages.toSorted(), pdf_translate.available, pdf_optimize]).toEqual([
    ['en', 'es'],
    true,
    { configured: true, available: true },
  ]);
});

test('an image-heavy PDF loses 40 % of its bytes and none of its words', async () => {
  const pdf = await imageHeavyPdf();
  const { state, result } = await convert(pdf, 'optimize');

  expect(state).toBe('succeeded');
  expect(result).toMatchObject({ version_number: 2, size_before: pdf.length, kept: true });
  expect(result.size_after / result.size_before).toBeLessThanOrEqual(0.6);
  expect(await textOf(await contentOf(result.file_id))).toBe(await textOf(pdf));
});

test('a translated PDF shows the target language', async () => {
  const { state, result } = await convert(await (await textPdf()).save(), 'translate');

  expect(state).toBe('succeeded');
  expect(await textOf(await contentOf(result.file_id))).toBe('El profesor lee un libro.');
});

test('a language that the PDF translator does not know fails the job in its words', async () => {
  const pdf = await (await textPdf()).save();

  expect(await convert(pdf, 'translate', { target_language: 'de' })).toMatchObject({
    state: 'failed',
    error: { code: 'validation_failed', message: expect.stringContaining('de') },
  });
});

test('a signed PDF is optimized by force alone, an encrypted one never', async () => {
  const id = await upload(at.api, Buffer.from(await signedPdf()), {}, 'signed.pdf');
  const encrypted = await upload(at.api, Buffer.from(await encryptedPdf()), {}, 'encrypted.pdf');

  expect((await at.api.post(`/files/${id}/optimize`, {})).body.error).toBe('pdf_signed');
  expect((await at.api.post(`/files/${encrypted}/optimize`, { force: true })).body.error).toBe('pdf_encrypted');
  expect(await converted(at.api, id, 'optimize', { force: true })).toMatchObject({ state: 'succeeded', error: null });
  expect(await converted(at.api, id, 'translate')).toMatchObject({ error: null });
});
