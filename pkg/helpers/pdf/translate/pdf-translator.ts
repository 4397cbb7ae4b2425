import { join } from 'node:path';
import { z } from 'zod';
import { knownTag } from '../../languages.ts';
import { Refusal } from '../../refusal.ts';
import type { Translator } from '../../translator/translator.ts';
import type { Job, PdfConversions } from '../conversions.ts';

const SCRIPT = new URL(`main${import.meta.url.slice(-3)}`, import.meta.url);
/** Scripts that are written from left to right, letter by letter, and whose letters Noto Sans has. */
const SCRIPTS: ReadonlySet<string | undefined> = new Set(['Latn', 'Cyrl', 'Grek']);
const MAX_CHARACTERS = 2_000_000;
const Texts = z.object({ texts: z.array(z.string().max(50_000)) });

/**
 * Translates PDFs: a separate process reads and writes them, and gets the translations from the translator in this process, which
 * has the keys.
 */
export class PdfTranslator {
  readonly #conversions: PdfConversions;
  readonly #translator: Translator;

  constructor(deps: { conversions: PdfConversions; translator: Translator }) {
    this.#conversions = deps.conversions;
    this.#translator = deps.translator;
  }

  /** Fields: `target_lang`, `source_lang` (default `auto`). Returns a path in the job's folder. */
  async translate(job: Job): Promise<string> {
    const target = knownTag(job.fields.get('target_lang') ?? '', 'target_lang');
    const from = job.fields.get('source_lang') ?? 'auto';
    const source = from.toLowerCase() === 'auto' ? null : knownTag(from, 'source_lang');
    if (!SCRIPTS.has(new Intl.Locale(target).maximize().script))
      throw new Refusal(
        'script_unsupported',
        `PDFs are translated into languages in Latin, Cyrillic and Greek letters; ${target} uses others.`,
      );
    const output = join(job.folder, 'translated.pdf');
    const options = { target, maxPages: this.#conversions.limits.maxPages };
    const answer = async (line: string): Promise<string | undefined> => {
      const asked = Texts.safeParse(JSON.parse(line));
      if (!asked.success) return undefined;
      const { texts } = asked.data;
      if (texts.reduce((sum, { length }) => sum + length, 0) > MAX_CHARACTERS)
        throw new Refusal('pdf_too_complex', `The PDF has more than ${MAX_CHARACTERS} characters of text.`);
      return JSON.stringify((await this.#translator.translateAll(texts, { source, target }, job.signal)).texts);
    };
    await this.#conversions.run(SCRIPT, job, { input: job.input, output, options, answer });
    return output;
  }
}
