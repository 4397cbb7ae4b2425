import { join } from 'node:path';
import { z } from 'zod';
import type { Logger } from '../../../runtime/log.ts';
import { runChild } from '../../child.ts';
import { Refusal } from '../../refusal.ts';
import { isPdf } from '../form.ts';
import { type Job, type PdfConversions, sizeOf } from '../conversions.ts';
import type { Quality } from './optimise.ts';

/** Paths of optional programs, if they are installed. */
export interface Programs {
  readonly qpdf?: string;
  readonly gs?: string;
}

const SCRIPT = new URL(`main${import.meta.url.slice(-3)}`, import.meta.url);
const QUALITIES: readonly Quality[] = ['low', 'medium', 'high'];
const PDF_SETTINGS: Readonly<Record<Quality, string>> = { low: '/screen', medium: '/ebook', high: '/printer' };
const Result = z.object({ pages: z.number(), isPlain: z.boolean() });
/** Shares of the remaining time: for one of several steps, and for images within the library's step. */
const SHARE = { step: 0.6, images: 0.4 };

/**
 * Returns the smallest of the results of the library, Ghostscript and qpdf, or the PDF itself if none is smaller.
 *
 * Invariants:
 * - The library always reads the PDF first, because it knows what must be refused.
 * - Ghostscript, which writes only pages, gets only PDFs that have nothing else; and its result counts only if it has as many
 *   pages.
 * - A failing program costs time, but never the result.
 */
export class PdfOptimiser {
  readonly #conversions: PdfConversions;
  readonly #programs: Programs;
  readonly #log: Logger;

  constructor(deps: { conversions: PdfConversions; programs: Programs; log: Logger }) {
    this.#conversions = deps.conversions;
    this.#programs = deps.programs;
    this.#log = deps.log;
  }

  /** Fields: `quality` (low, medium, high), `force` (`true`: a signature may break). Returns a path in the job's folder. */
  async optimise(job: Job): Promise<string> {
    const quality = job.fields.get('quality') ?? 'medium';
    if (!isQuality(quality)) throw new Refusal('validation_failed', `quality: must be one of ${QUALITIES.join(', ')}.`);
    const force = job.fields.get('force') ?? 'false';
    if (force !== 'true' && force !== 'false') throw new Refusal('validation_failed', 'force: must be true or false.');

    const byLibrary = join(job.folder, 'library.pdf');
    const found = await this.#byLibrary(job, job.input, byLibrary, { quality, allowSigned: force === 'true', withImages: true });
    const candidates = [job.input, byLibrary];
    if (this.#programs.gs !== undefined && found.isPlain)
      candidates.push(...(await this.#attempt(job, 'gs', (signal) => this.#byGhostscript(job, quality, found.pages, signal))));
    const best = await smallestOf(candidates);
    if (this.#programs.qpdf !== undefined)
      candidates.push(...(await this.#attempt(job, 'qpdf', (signal) => this.#byQpdf(job, best, signal))));
    return smallestOf(candidates);
  }

  async #byLibrary(
    job: Job,
    input: string,
    output: string,
    { quality, allowSigned, withImages }: { quality: Quality; allowSigned: boolean; withImages: boolean },
  ): Promise<z.output<typeof Result>> {
    const imagesUntil = withImages ? Date.now() + (job.until - Date.now()) * SHARE.images : 0;
    const options = { quality, allowSigned, imagesUntil, maxPages: this.#conversions.limits.maxPages };
    return Result.parse(await this.#conversions.run(SCRIPT, job, { input, output, options }));
  }

  async #byGhostscript(job: Job, quality: Quality, pages: number, signal: AbortSignal): Promise<string> {
    const output = join(job.folder, 'gs.pdf');
    const settings = [
      '-dSAFER',
      '-dBATCH',
      '-dNOPAUSE',
      '-dQUIET',
      '-sDEVICE=pdfwrite',
      '-dCompatibilityLevel=1.7',
      '-dAutoRotatePages=/None',
    ];
    await this.#program(
      job,
      [this.#programs.gs ?? '', ...settings, `-dPDFSETTINGS=${PDF_SETTINGS[quality]}`, `-sOutputFile=${output}`, job.input],
      signal,
    );
    const again = join(job.folder, 'gs-library.pdf');
    const found = await this.#byLibrary(job, output, again, { quality, allowSigned: false, withImages: false });
    if (found.pages !== pages) throw new Error(`Ghostscript wrote ${found.pages} of ${pages} pages`);
    return again;
  }

  async #byQpdf(job: Job, input: string, signal: AbortSignal): Promise<string> {
    const output = join(job.folder, 'qpdf.pdf');
    const settings = ['--object-streams=generate', '--recompress-flate', '--compression-level=9', '--warning-exit-0'];
    await this.#program(job, [this.#programs.qpdf ?? '', ...settings, input, output], signal);
    return output;
  }

  async #program({ folder, until }: Job, command: readonly string[], signal: AbortSignal): Promise<void> {
    const { memoryBytes, maxBytes } = this.#conversions.limits;
    const ms = Math.max(1, (until - Date.now()) * SHARE.step);
    await runChild(command, '', { ms, memoryBytes, outputBytes: 64 << 10, fileBytes: 2 * maxBytes }, signal, folder);
  }

  async #attempt({ signal }: Job, program: string, run: (signal: AbortSignal) => Promise<string>): Promise<string[]> {
    try {
      const output = await run(signal);
      if (!(await isPdf(output))) throw new Error(`${output} is not a PDF`);
      return [output];
    } catch (error) {
      signal.throwIfAborted();
      this.#log.info({ err: error, program }, 'a program did not optimise a PDF');
      return [];
    }
  }
}

const isQuality = (text: string): text is Quality => QUALITIES.some((each) => each === text);

/** Returns the first of the smallest files. */
async function smallestOf(paths: readonly string[]): Promise<string> {
  const sizes = await Promise.all(paths.map(sizeOf));
  return paths[sizes.indexOf(Math.min(...sizes))] ?? '';
}
