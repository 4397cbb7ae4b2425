import { beforeAll, expect, test } from '@jest/globals';
import { fixture } from '../../../test/support/suites/fixture.ts';
import { type Converted, type Helpers, startHelpers } from '../../../test/support/programs/helper-program.ts';
import { HOSTILE_PDFS } from '../../../test/support/data/hostile-pdfs.ts';
import { textPdf } from '../../../test/support/data/pdfs.ts';
import { inParallel } from '../../../test/support/wait.ts';

const FIELDS = { '/optimize': {}, '/translate': { target_lang: 'es', source_lang: 'en' } } as const;
const TIMEOUT_S = 9;
/** Time beyond the conversion itself, on a busy machine. */
const LEEWAY_MS = 15_000;
/** Each PDF goes to the conversion that reads most of it; with CARREL_TEST_HOSTILE_PDFS to both. */
const PATHS = ['/optimize', '/translate'] as const;
const isOfTexts = (what: string): boolean => /font|content|letters|state|form that|encrypted for/.test(what);
const CASES = HOSTILE_PDFS.flatMap(([what, make, refusal = null]) =>
  PATHS.filter(
    (path) => process.env['CARREL_TEST_HOSTILE_PDFS'] !== undefined || isOfTexts(what) === (path === '/translate'),
  ).map((path) => [path, what, refusal, make] as const),
);

interface Outcome extends Converted {
  readonly ms: number;
}

const helpers: Helpers = fixture(
  () =>
    startHelpers({
      CARREL_HELPERS_PDF_CONCURRENCY: '2',
      CARREL_HELPERS_PDF_MEMORY_MIB: '600',
      CARREL_HELPERS_TIMEOUT_SECONDS: String(TIMEOUT_S),
    }),
  async (started) => started[Symbol.asyncDispose](),
);
const outcomes = new Map<string, Outcome>();

beforeAll(async () => {
  // Before anything is sent: making some of them takes seconds, in which the helpers, in this process too, would do nothing.
  const pdfs = CASES.map(([path, what, , make]) => ({ path, what, pdf: make() }));
  await inParallel(pdfs, 2, async ({ path, what, pdf }) => {
    const began = performance.now();
    const converted = await helpers.convert(path, pdf, FIELDS[path]);
    outcomes.set(`${path} ${what}`, { ...converted, ms: performance.now() - began });
  });
}, 600_000);

test.each(CASES)('%s of a PDF that %s gives a PDF or says in words why not, within the limits', (path, what, refusal, _make) => {
  const outcome = outcomes.get(`${path} ${what}`);

  expect(outcome?.ms).toBeLessThan(TIMEOUT_S * 1_000 + LEEWAY_MS);
  if (refusal !== null) expect(outcome).toMatchObject({ status: 422, error: refusal });
  else if (outcome?.status === 200) expect(outcome.bytes.subarray(0, 5).toString()).toBe('%PDF-');
  else
    expect(outcome).toMatchObject({
      status: 422,
      error: expect.stringMatching(/^pdf_/),
      message: expect.stringMatching(/\w+ \w+/),
    });
});

test('after all of them an honest PDF is translated', async () => {
  expect(await helpers.convert('/translate', await (await textPdf()).save(), FIELDS['/translate'])).toMatchObject({
    status: 200,
  });
});
